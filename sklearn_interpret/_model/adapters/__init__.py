"""Predictions as weighted sums of the training targets: readers of the weights."""
