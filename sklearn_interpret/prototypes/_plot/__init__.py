"""Display of prototypes and criticisms."""
