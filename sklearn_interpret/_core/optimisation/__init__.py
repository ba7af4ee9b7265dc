"""Programs over arrays and searches for near points."""
