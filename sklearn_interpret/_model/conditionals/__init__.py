"""Conditional means of a response: absent columns given the present ones."""
