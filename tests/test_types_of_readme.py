"""README's examples pass mypy --strict and pyright, where these are installed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import unitless

ROOT = Path(__file__).resolve().parents[1]
CHECKERS = {
    # scikit-learn itself has no types
    "mypy": [
        "--strict",
        "--disable-error-code=import-untyped",
        "--no-error-summary",
        "--follow-imports=silent",
        "--cache-dir",
        str(Path(tempfile.gettempdir(), "unitless-mypy")),
    ],
    "pyright": ["--pythonpath", sys.executable],
}


def snippets():
    """The examples, without prompts and output."""
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL):
        lines = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
        yield re.sub(
            r"^(?!print|from|import|\w+ = | )(.*)$", r"_ = \1", "\n".join(lines), flags=re.M
        )


@pytest.mark.parametrize("checker", CHECKERS)
def test_examples_pass(tmp_path, checker):
    program = shutil.which(checker, path=f"{Path(sys.executable).parent}")
    if program is None or (checker == "pyright" and shutil.which("node") is None):
        pytest.skip(f"{checker} is not installed")
    files = []
    for k, text in enumerate(snippets()):
        files.append(str(tmp_path / f"example_{k}.py"))
        Path(files[-1]).write_text(text + "\n")
    assert files
    source = Path(unitless.__file__).parents[1]  # an editable install is found in no other way
    path = {} if source.name == "site-packages" else {"MYPYPATH": f"{source}"}
    run = subprocess.run(
        [program, *CHECKERS[checker], *files],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | path,
    )
    assert run.returncode == 0, run.stdout + run.stderr
