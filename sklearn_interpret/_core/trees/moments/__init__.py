"""Moments of trees over independent features."""
