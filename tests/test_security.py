"""What SECURITY.md promises of the source: no network, no other program, nothing executed."""

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "unitless"
FORBIDDEN = {
    "socket", "ssl", "http", "urllib", "ftplib", "smtplib", "asyncio", "requests", "httpx",
    "subprocess", "pickle", "marshal", "shelve", "joblib", "ctypes",
}  # fmt: skip
ALLOWED = {
    "distributed/executor.py": {"joblib", "pickle"},
    "testing.py": {"pickle"},
    "processor.py": {"ctypes", "subprocess"},
}
"""Processes of this machine exchange pickles with each other, and `check_learner` pickles the
learner that it tests; no other pickle is read. Windows and macOS are asked what the processor can
do, by a function of the system and by its program `sysctl`."""
CALLS = {"eval", "exec", "compile", "__import__"}


def imported(tree):
    """Top-level names of all modules that a file imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def called(tree):
    """Names of functions that are called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def test_no_network_no_program_no_execution():
    wrong = {}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        tree = ast.parse(path.read_text())
        forbidden = (FORBIDDEN - ALLOWED.get(name, set())) & {*imported(tree)}
        if found := forbidden | CALLS & {*called(tree)}:
            wrong[name] = found
    assert not wrong
