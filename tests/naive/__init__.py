"""Slow, plain, obviously right twins of the kernels, in more digits than float64 has."""
