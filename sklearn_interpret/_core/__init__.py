"""Arrays in, arrays out: the mathematics, on numpy and scipy alone."""
