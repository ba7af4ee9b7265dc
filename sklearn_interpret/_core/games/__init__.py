"""Shapley values of cooperative games."""
