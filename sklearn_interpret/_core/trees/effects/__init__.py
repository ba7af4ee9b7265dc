"""Outputs of trees as some features move, without predictions."""
