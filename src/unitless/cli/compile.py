"""`unitless compile`: make a machine ready."""

import time
from typing import Annotated

import typer

Everything = Annotated[
    bool, typer.Option("--all", help="Also for several classes and for numbers.")
]


def compile(everything: Everything = False) -> None:
    """Compile ahead what the first start would compile: for images and fresh machines.

    It uses two cores, and what it makes is kept where Numba keeps it (NUMBA_CACHE_DIR, or beside
    the package). Nothing else changes.

    [dim]Example:[/dim] unitless compile --all
    """
    from unitless.blend.compiling import compile_ahead

    start = time.perf_counter()
    compile_ahead(everything)
    print(f"compiled in {time.perf_counter() - start:.0f} s")
