"""Models without some of their training rows."""
