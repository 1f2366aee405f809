"""Tools for compiled functions: Numba decorators, reproducible arithmetic and SIMD vectors."""
