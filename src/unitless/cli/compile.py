"""`unitless compile`: compile the kernels in advance."""

import time
from typing import Annotated

import typer

Everything = Annotated[
    bool,
    typer.Option("--all", help="Also compile the kernels for several classes and for numbers."),
]


def compile(everything: Everything = False) -> None:
    """Compile in advance what the first run would compile, for example in a container image.

    The compiled code goes to NUMBA_CACHE_DIR if it is set, otherwise to the user's cache folder.

    [dim]Example:[/dim] unitless compile --all
    """
    from unitless.blend.compiling import compile_ahead

    start = time.perf_counter()
    compile_ahead(everything)
    print(f"compiled in {time.perf_counter() - start:.0f} s")
