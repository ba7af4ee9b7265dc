"""Programs and searches over arrays: linear, over boxes of cells, for near points."""
