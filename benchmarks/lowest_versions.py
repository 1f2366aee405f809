"""The lowest versions allowed: `python benchmarks/lowest_versions.py FOLDER [TESTS]`.

Makes a virtual environment in the folder in which every dependency of the package is as old as
allowed, and runs the tests named there (by default those of files, readers, models and features).
The tests' own tools may be newer, and River, which wants newer ones, is left out. Needs the
network, which the package itself never does.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = [
    "tests/readers", "tests/features", "tests/test_models.py", "tests/test_rows.py",
    "tests/test_learners.py", "tests/estimators/test_sklearn_checks.py",
    "tests/estimators/test_frames_in.py", "tests/cli", "tests/faults",
]  # fmt: skip
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def constraints():
    """Each lower bound as a version: name>=1.2 becomes name==1.2."""
    found = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", text) for text in PROJECT["dependencies"]]
    if None in found:
        raise ValueError("a dependency has no lower bound, or more than one")
    return [f"{match[1]}=={match[2]}" for match in found]


def main(folder, tests):
    """Install, then test."""
    folder = Path(folder)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    wanted = folder / "constraints.txt"
    wanted.write_text("\n".join(constraints()) + "\n")
    python = folder / "bin" / "python"
    tools = [text for text in PROJECT["optional-dependencies"]["test"] if "river" not in text]
    install = [python, "-m", "pip", "install", "--quiet", "-c", wanted, "-e", ROOT, *tools]
    subprocess.run(install, check=True)
    subprocess.run([python, "-m", "pytest", "-q", *tests], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or TESTS)
