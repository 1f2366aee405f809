from typing import Any, ClassVar

from numpy.typing import NDArray

from unitless.state import Component, Fact, Field

class Stateful:
    """Base class; `saved` declares the state (see `unitless.state`)."""

    saved: ClassVar[tuple[Field | Fact | Component, ...]]

    def read(self, name: str) -> NDArray[Any]:
        """A copy of an array, or of a number, of the state."""

    def write(self, name: str, value: Any) -> None:
        """Replace an array, a number or a fact of the state."""

    def _sizes(self) -> dict[str, int]: ...
    def _expand(self) -> None: ...
    def _loaded(self) -> None: ...
    def _arguments(self) -> dict[str, Any]: ...
    def _more(self) -> dict[str, Any]: ...
