"""Arrays, frames, sparse matrices, texts and images behind one interface."""
