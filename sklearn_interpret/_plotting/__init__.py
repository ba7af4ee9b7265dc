"""Shared by all displays: their construction, axes, colours, labels and marks."""
