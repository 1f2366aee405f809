"""The comparators of the paper's conclusion and of its sections 1 to 3, one file each."""
