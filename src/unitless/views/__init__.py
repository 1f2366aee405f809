"""Views: online transformations of rows, with the invariance that each one keeps.

A view transforms a block of rows to values of the same shape, which a learner may get instead of
the raw ones. `learn` updates the view's state row by row, the current row included;
`transform` shows each row as if it were the next, and changes nothing. `Moments` is the state of
both the centred and the squashed view.

========== ============================================ ==================== =================
view       of x_i                                       rows                 invariance
========== ============================================ ==================== =================
raw        x_i                                          dense or sparse      of the learner
centred    c_i = x_i - mean_i                           dense                affine
squashed   c_i / sqrt(var_i + c_i^2), within (-1, 1)    dense                affine
normalised x_i / sqrt(sum_j (x_j / max |x_j|)^2)        dense or sparse      of the learner
presence   1 where x_i is not 0                         dense or sparse      of the learner
========== ============================================ ==================== =================

Means and variances are over all rows so far; absent values count as 0, missing ones (NaN) not at
all. The constant that learners add to a row is in no view.
"""

from unitless.views.moments import Moments
from unitless.views.normalised import Normalised
from unitless.views.presence import presence_of

__all__ = ["Moments", "Normalised", "presence_of"]
