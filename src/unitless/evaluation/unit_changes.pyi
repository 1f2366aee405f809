from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.rows import Rows
from unitless.state import Float

NEW_ALARM: float
REPORTED: float
FIELDS: list[str]
RUN_FIELDS: list[str]
FEATURE: np.dtype[Any]

def look(features: NDArray[Any], rows: Rows, first: int, known: Float) -> bool: ...
