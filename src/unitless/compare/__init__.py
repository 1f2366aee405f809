"""Many learners, one stream, one table: what each of them lost, and what a change of units does.

Every learner passes once over the rows, in their order, and predicts each before it learns it. What
a method must know beforehand (its declared `needs`) is taken from the stream in hindsight, which
flatters it, and the table says so:

========= ======================================================================================
bound     the largest |g x| that slopes |g| <= 1 allow; of methods for each feature, |g x_i|
horizon   the number of rows
radius    |u|_1 of the best weights in hindsight; the default where none are best
C         their largest |prediction|; likewise
========= ======================================================================================

A learner that diverges says in which row, ranks last, and the others go on.
"""

from unitless.compare.comparing import compare
from unitless.compare.results import TUNED, Comparison, Elsewhere, Entry
from unitless.compare.runs import RATES

__all__ = ["RATES", "TUNED", "Comparison", "Elsewhere", "Entry", "compare"]
