"""The output of a run: a table of losses, and on a terminal a progress bar."""

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from unitless.evaluation import Step
    from unitless.model import Model

HEADINGS = ("rows", "average loss", "since last", "label", "predicted", "features")
WIDTHS = (10, 13, 12, 16, 18, 10)


def console_of(no_color: bool = False, quiet: bool = False, error: bool = False) -> "Console":
    """Return the console that a command prints to."""
    from rich.console import Console

    return Console(
        highlight=False,
        color_system=None if no_color else "auto",
        quiet=quiet,
        stderr=error,
        soft_wrap=True,
        markup=False,
    )


COMPILING = (
    "compiling for up to a minute, only the first time (`unitless compile` does it in advance)"
)


@contextmanager
def warnings_as_notes(quiet: bool) -> Iterator[None]:
    """Print warnings of the library as notes on the error stream.

    On a terminal, also say when kernels are compiled that are not in the cache.
    """
    from numba.core import event

    def show(message: Any, *_: Any, **__: Any) -> None:
        if not quiet:
            print(f"note: {message}", file=sys.stderr, flush=True)

    class Compiling(event.Listener):
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told and sys.stderr.isatty():
                self.told = True
                show(COMPILING)

        def on_end(self, event: Any) -> None:
            pass

    with warnings.catch_warnings(), event.install_listener("numba:compile", Compiling()):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


class Screen:
    """The table and the progress bar of a run."""

    def __init__(self, console: "Console", model: "Model") -> None:
        self.console = console
        self.model = model
        self.rows = 0
        self.start = time.perf_counter()
        self.last = 0.0
        self._live: Any = None

    def __enter__(self) -> "Screen":
        cells = (f"{text:>{width}}" for text, width in zip(HEADINGS, WIDTHS, strict=True))
        self.console.print("".join(cells), style="bold")
        if self.console.is_terminal and not self.console.quiet:
            from rich.live import Live
            from rich.text import Text

            self._live = Live(Text(""), console=self.console, transient=True, auto_refresh=False)
            self._live.__enter__()
        return self

    def __exit__(self, *what: Any) -> None:
        if self._live is not None:
            self._live.__exit__(*what)

    def show(self, step: "Step") -> None:
        """Show the rows of a step."""
        self.rows += len(step.rows)
        if step.line is not None:
            self.console.print(self._cells(step.line))
        now = time.perf_counter()
        if self._live is not None and now - self.last > 0.1:
            from rich.text import Text

            self.last = now
            self._live.update(Text(self._bar(step.done), style="cyan"), refresh=True)

    def _bar(self, done: float | None) -> str:
        """Return rows, rows per second and, for files, the share done and the time left."""
        seconds = time.perf_counter() - self.start
        text = f"{self.rows:,} rows, {self.rows / max(seconds, 1e-9):,.0f} rows/s"
        if not done:
            return text
        filled = int(30 * done)
        left = seconds / done * (1 - done)
        return f"{'━' * filled}{'─' * (30 - filled)} {done:4.0%}  {text}, {left:.0f} s left"

    def _cells(self, line: dict[str, Any]) -> str:
        texts = (
            f"{line['rows']:,}",
            number(line["loss"]),
            number(line["since"]),
            label_of(self.model, line["target"]),
            prediction_of(self.model, line["score"]),
            f"{line['features']}",
        )
        return "".join(f"{text:>{width}}" for text, width in zip(texts, WIDTHS, strict=True))


def number(value: float | None) -> str:
    """Format a number for a table.

    >>> number(0.12345), number(123456.7), number(-0.0), number(None)
    ('0.1235', '1.235e+05', '0.0000', '-')
    """
    if value is None:
        return "-"
    value += 0.0  # 0 has no sign
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.4g}"


def label_of(model: "Model", target: float | None) -> str:
    """Return a target as it is in the file."""
    if target is None:
        return "unknown"
    if model.task == "regression":
        return f"{target:.6g}"
    return plain(model.labels[int(target > 0) if model.task == "binary" else int(target)], 15)


def prediction_of(model: "Model", score: Any) -> str:
    """Return the prediction of a score: the number, or the class and its probability."""
    import numpy as np

    if model.task == "regression":
        return f"{score:.6g}"
    scores = np.array([score])
    answer = plain(model.answers(scores)[0], 10)
    p = model.probabilities(scores)
    return answer if p is None else f"{answer} {p[0].max():.0%}"


def plain(label: Any, width: int = 40) -> str:
    """Return a label without quotes, shortened."""
    from unitless.labels import text_of

    text = text_of(label)
    return text if len(text) <= width else text[: width - 1] + "…"


def counted(n: int, what: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "invalid line"), counted(2000, "invalid line")
    ('1 invalid line', '2,000 invalid lines')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"
