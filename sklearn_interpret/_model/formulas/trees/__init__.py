"""Readers of tree models, by library, and responses that are sums of trees."""
