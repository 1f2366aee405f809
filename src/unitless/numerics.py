"""Old names of what is in `unitless.kernels`; goes when nobody imports it."""

from unitless.kernels.arithmetic import bounded_exp as bounded_exp
from unitless.kernels.arithmetic import exp as exp
from unitless.kernels.arithmetic import grown as grown
from unitless.kernels.arithmetic import lane_dot as lane_dot
from unitless.kernels.arithmetic import lane_sum as lane_sum
from unitless.kernels.decorators import inlined as inner
from unitless.kernels.decorators import kernel as kernel
from unitless.kernels.decorators import shared as shared
from unitless.kernels.simd import LANES as LANES
from unitless.kernels.simd import fma as fma
from unitless.kernels.simd import prefetch as prefetch

WIDE = 2.0**255
flat = kernel
inner = inner
