"""Compare several learners on one stream: the loss of each, and the effect of other units.

Every learner passes once over the rows and predicts each row before it learns it. Parameters that a
method must know in advance (its declared `needs`) are set in hindsight, which favours it; the notes
below the table list them:

========= ======================================================================================
bound     the largest |g x| for gradients |g| <= 1; for coordinate-wise methods |g x_i|
horizon   the number of rows
radius    |u|_1 of the best weights in hindsight; the default if they do not exist
C         their largest |prediction|; the default if they do not exist
========= ======================================================================================

A learner that diverges ranks last, with the row in which it happened; the others continue.
"""

from unitless.compare.comparing import RATES, TUNED, compare
from unitless.compare.comparison import Comparison, Elsewhere, Entry

__all__ = ["RATES", "TUNED", "Comparison", "Elsewhere", "Entry", "compare"]
