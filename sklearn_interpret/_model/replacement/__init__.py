"""Model responses to perturbed rows."""
