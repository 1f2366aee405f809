"""The blend: its mixers, its guarantee and the laws that only it has to keep."""
