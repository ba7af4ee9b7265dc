"""Display of importances."""
