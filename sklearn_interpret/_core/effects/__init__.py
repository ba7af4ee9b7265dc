"""Effects of features, and their interactions, from model responses."""
