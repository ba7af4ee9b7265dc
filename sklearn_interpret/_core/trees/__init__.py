"""Ensembles of decision trees as flat arrays, and what follows from them."""
