"""Baselines: the algorithms that the paper compares with, in families that share formulas.

Each file is a family, and each class names its paper and the parameters that it must know in
advance. They may import the core and what learners share.
"""
