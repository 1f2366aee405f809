"""Sums over trials from which certificates with damped slopes follow.

docs/explanation/theory.md, section 4, has the proof. For a loss with conjugate loss*, any slopes g'
in its domain and all weights u, regret(u) <= sum v (loss + loss*(y, g')) - (sum v g' x).u. The
slopes of the learner times any lambda in [0, 1] will do, so all that is needed beside h is
sum v loss*(y, lambda g) as a function of lambda:

- logistic loss: with q = |g|, loss* is a convex function of lambda q. It is bounded by its chord
  over each of 64 bins of the margin y p, from the sum of v and of v q per bin.
- all other losses: lambda sum v g y + lambda^2 c sum v g^2, where c depends on the loss.

Learners keep them as an array of one record, which damped_sums.pxd fills in.
"""

import numpy as np

from unitless.state import Field

MARGIN_BINS = 64
MARGINS_PER_UNIT = 4
RECORD = np.dtype(
    [
        ("rows", "d"),
        ("paid", "d"),
        ("product", "d"),
        ("size", "d"),
        ("gy", "d"),
        ("gg", "d"),
        ("count", f"{MARGIN_BINS}d"),
        ("slope", f"{MARGIN_BINS}d"),
    ]
)
DAMPED_SUMS = Field(
    "damped_sums",
    "1",
    "sums for certificates with damped slopes; not finite after losses beyond float64",
    (1,),
    may_be_nan=True,
)
