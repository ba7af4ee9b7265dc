"""Panels of lines along a feature and of surfaces over two, and displays of them."""
