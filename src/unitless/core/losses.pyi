from unitless.state import Float

class _Codes(type):
    def __getattr__(cls, name: str) -> int: ...

class Code(metaclass=_Codes):
    """The codes of the losses, which are integers; losses.pxd lists them."""

def values(loss: int, parameter: float, y: Float, p: Float) -> Float:
    """The losses of the scores p for the targets y."""

def derivatives(loss: int, parameter: float, y: Float, p: Float) -> Float:
    """The derivatives of the losses in p."""

def logistic_probability(p: float) -> float: ...
def sigmoids(p: Float) -> Float:
    """1 / (1 + exp(-p))."""

def cross_entropies(y: Float, p: Float) -> Float:
    """log sum_c exp(p_rc) - p_ry, with its digits where p_ry is far above the others."""
