"""Model responses to rows whose columns take the values of other rows, or new ones."""
