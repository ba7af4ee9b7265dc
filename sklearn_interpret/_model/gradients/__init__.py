"""Gradients of a model's scores with respect to the columns of its input."""
