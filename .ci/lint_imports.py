"""Check the layers of `pyproject.toml` with import-linter, in editable and in normal installs.

The loader of an editable install names a folder of submodules that does not exist, so that
import-linter would find no module. Here it reads the source.
"""

import sys
from pathlib import Path

from importlinter.cli import lint_imports_command

sys.meta_path[:] = [
    finder
    for finder in sys.meta_path
    if not type(finder).__module__.endswith("_unitless_editable_loader")
]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
lint_imports_command()
