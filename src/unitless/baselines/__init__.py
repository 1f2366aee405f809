"""Baselines: the algorithms that the paper compares with, in families that share formulas."""
