"""Adversaries: games that force a regret at least as large as the lower bounds."""

from unitless.regret.adversaries.game import Game, opponent
from unitless.regret.adversaries.lattice import curve, lattice
from unitless.regret.adversaries.theorem_3 import longest, no_growth, theorem_3

__all__ = ["Game", "curve", "lattice", "longest", "no_growth", "opponent", "theorem_3"]
