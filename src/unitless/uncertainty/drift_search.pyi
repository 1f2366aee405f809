import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
FIELDS: int
STREAM_FIELDS: int
STRIDE: int
ROOM: int

def search(starts: Float, stream: Float, losses: Float, alpha: float, at: int) -> tuple[int, int]:
    """Take in losses; the place after an alarm and its start, or (-1, -1)."""
