"""Fitted models without some of their rows."""
