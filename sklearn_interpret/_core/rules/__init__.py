"""Conditions on the columns of tables, and searches for rules made of them."""
