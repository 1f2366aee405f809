from typing import Any

from numpy.typing import NDArray

from unitless.state import Float

def read_numbers(data: bytes, starts: NDArray[Any]) -> tuple[NDArray[Any], Float, NDArray[Any]]: ...
def scaled(digits: int, power: int) -> float: ...
