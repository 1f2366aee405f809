"""What compiled functions are made of: decorators, arithmetic with fixed rounding, vectors."""
