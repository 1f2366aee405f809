"""Run a script in this process: most of the time of a new one is spent on loading the kernels."""

import runpy
import sys
import warnings
from unittest.mock import patch


def run(path, *words):
    """Run a script as a program, with these words of the command line; a UserWarning is an error.

    Modules beside the script can be imported by it, and are forgotten afterwards.
    """
    before = {*sys.modules}
    with (
        patch.object(sys, "argv", [str(path), *map(str, words)]),
        patch.object(sys, "path", [str(path.parent), *sys.path]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        warnings.simplefilter("error", UserWarning)
        runpy.run_path(str(path), run_name="__main__")
    for name in {*sys.modules} - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and file.startswith(str(path.parent)):
            del sys.modules[name]
