"""The response of a fitted predictor, its scores, and what it says of features."""
