"""What the README shows is what the program and its files say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_bounds_table_is_made_from_the_results_file():
    command = [sys.executable, ROOT / "benchmarks" / "bounds.py", "--markdown"]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert made in (ROOT / "README.md").read_text()
