"""Test with the lowest versions allowed: `python benchmarks/lowest_versions.py FOLDER [TESTS]`.

The program creates a virtual environment in FOLDER with the oldest allowed version of every
dependency, and runs TESTS in it. By default these are tests that use each dependency: kernels,
learners, readers, encoders, models, estimators, commands. The tools of the tests may be newer.
River is left out because it needs newer versions. The result goes, with date and version, to
`results/reliability.json`. The program needs the network, unlike the package itself.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import reliability

ROOT = Path(__file__).resolve().parents[1]
TESTS = [
    "tests/readers/test_csv.py", "tests/readers/test_jsonl.py", "tests/readers/test_parquet.py",
    "tests/readers/test_svmlight.py", "tests/readers/test_vw.py", "tests/encoders",
    "tests/test_rows.py", "tests/formats", "tests/faults/test_disk.py", "tests/kernels",
    "tests/learners/test_twins.py", "tests/estimators/test_frames_in.py", "tests/cli/test_app.py",
]  # fmt: skip
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def constraints():
    """Return each lower bound as a version: name>=1.2 becomes name==1.2."""
    found = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", text) for text in PROJECT["dependencies"]]
    if None in found:
        raise ValueError("a dependency has no lower bound, or more than one")
    return [f"{match[1]}=={match[2]}" for match in found]


def main(folder, tests):
    """Install the package and run the tests."""
    folder = Path(folder)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    wanted = folder / "constraints.txt"
    wanted.write_text("\n".join(constraints()) + "\n")
    python = folder / "bin" / "python"
    tools = [text for text in PROJECT["optional-dependencies"]["test"] if "river" not in text]
    install = [python, "-m", "pip", "install", "--quiet", "-c", wanted, "-e", ROOT, *tools]
    subprocess.run(install, check=True)
    report = folder / "report.xml"
    words = [python, "-m", "pytest", "-q", "-W", "default", f"--junitxml={report}", *tests]
    subprocess.run(words, cwd=ROOT)
    suite = ElementTree.parse(report).getroot()[0].attrib
    wrong = int(suite["failures"]) + int(suite["errors"])
    figures = {"tests": int(suite["tests"]), "failed": wrong, "versions": constraints()}
    reliability.kept("lowest_versions", figures)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or TESTS)
