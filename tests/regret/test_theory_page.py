"""theory.md names only functions and tests that exist, and its numbers are measured."""

import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from unitless import learners, regret

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "theory.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the docs are not installed")


def names_of_tests(text):
    """[(file, name or beginning of names)]; a name without a file is in the file before it."""
    pattern = r"`(?:((?:tests/\w+/)?test_\w+\.py)::)?(test_\w+)(\*)?(?:\[\w+\])?`"
    found = []
    file = ""
    for path, name, star in re.findall(pattern, text):
        file = path or file
        found.append((file, name if star else rf"{name}\b"))
    return found


def test_every_test_named_exists():
    named = names_of_tests(PAGE.read_text())
    assert len(named) > 80
    for file, name in named:
        places = [ROOT / "tests" / folder / file for folder in ("regret", "learners")]
        places.append(ROOT / file)
        code = next(path for path in places if path.exists()).read_text()
        assert re.search(rf"def {name}", code), f"{file}::{name}"


def test_every_function_named_exists():
    page = PAGE.read_text()
    modules = r"adversaries|blend_certificate|bounds|lower_bounds|normalised_bounds|penalties"
    named = re.findall(rf"`({modules})\.(\w+)`", page)
    assert len(named) > 30
    for module, name in named:
        assert hasattr(import_module(f"unitless.regret.{module}"), name), f"{module}.{name}"
    places = {"Blend": learners, "Full": learners, "Comparator": regret, "RegretBounds": regret}
    of_classes = re.findall(rf"`({'|'.join(places)})\.(\w+)(?:\(\))?`", page)
    assert {name for name, _ in of_classes} == set(places)
    for name, attribute in of_classes:
        assert hasattr(getattr(places[name], name), attribute), f"{name}.{attribute}"
    inside = re.findall(r"`(\w+)` in `(unitless(?:\.\w+)+)`", page)
    assert len(inside) > 2
    for name, module in inside:
        path = ROOT / "src" / f"{module.replace('.', '/')}.pyx"
        if path.exists():  # methods of compiled code are not seen from Python
            assert re.search(rf"^ *c?p?def .*\b{name}\(", path.read_text(), re.M), (
                f"{name} in {module}"
            )
        else:
            assert hasattr(import_module(module), name), f"{name} in {module}"


def test_every_statement_has_a_meaning_code_and_a_test():
    page = PAGE.read_text()
    title = r"^\| statement \| meaning \| code \| test \|\n.*\n"
    tables = re.findall(title + r"((?:\|.*\n)+)", page, re.M)
    assert page.count("\n| statement |") == len(tables) == 8
    for line in "".join(tables).splitlines():
        _, statement, meaning, code, test, _ = re.split(r"(?<!\\)\|", line)
        assert meaning.strip().endswith("."), statement
        assert "`" in code, statement
        assert names_of_tests(test), statement


def test_every_module_named_exists():
    named = re.findall(r"`(unitless(?:\.\w+)+)`", PAGE.read_text())
    assert len(named) > 5
    for module in named:  # code that others include is in a .pxd alone
        if not (ROOT / "src" / f"{module.replace('.', '/')}.pxd").exists():
            import_module(module)


def test_every_file_named_exists():
    for path in re.findall(r"`(tests/[\w/.]+)`", PAGE.read_text()):
        assert (ROOT / path).exists(), path


def numbers_in_the_paper():
    """{label: number} and {label: letter of the appendix that proves it}, as LaTeX counts."""
    path = ROOT.parent / "shared" / "paper.tex"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    text = path.read_text()
    # lemmas and theorems share one counter; align* and equation* have no numbers
    counters = {"theorem": 0, "equation": 0}
    numbers = {}
    counted = None
    for kind, label in re.findall(r"\\begin\{(theorem|lemma|equation)\}|\\label\{([^}]+)\}", text):
        if kind:
            counter = "equation" if kind == "equation" else "theorem"
            counters[counter] += 1
            counted = counters[counter]
        else:
            numbers[label] = counted
    sections = re.findall(r"\\section\{([^\n]*)", text[text.index(r"\appendix") :])
    appendices = {}
    for letter, title in zip("ABCDEF", sections, strict=True):
        for label in re.findall(r"\\ref\{([^}]+)\}", title):
            appendices[label] = letter
    return numbers, appendices


def test_numbers_are_those_of_the_paper():
    numbers, appendices = numbers_in_the_paper()
    page = PAGE.read_text()
    rows = re.findall(r"\| (?:Lemma|Theorem) (\d) \| (?:Lemma|Theorem) (\d+) \| `([^`]+)` \|", page)
    assert len(rows) == 9
    for _, printed, label in rows:
        assert numbers[label] == int(printed), label
    here = {label: number for number, _, label in rows}
    equations = re.findall(r"^\| ((?:\(\d+\)(?:, )?)+) \| ((?:`eq:[^`]+`(?:, )?)+) \|", page, re.M)
    assert len(equations) == 9
    for printed, labels in equations:
        found = [numbers[label] for label in re.findall("`([^`]+)`", labels)]
        assert [int(number) for number in re.findall(r"\d+", printed)] == found
    proofs = re.search(r"Appendix A proves .*", page)[0]
    for label, letter in appendices.items():
        if label != "alg:two":
            kind = "Theorem" if label.startswith("thm") else "Lemma"
            assert f"{letter} {'proves ' if letter == 'A' else ''}{kind} {here[label]}" in proofs
            assert f"| {kind} {here[label]}, appendix {letter}:" in page


def test_every_number_used_in_the_code_exists():
    """Package numbers: Lemmas 1 to 7, Theorems 1 to 3, equations 1 to 14."""
    for path in (ROOT / "src" / "unitless" / "regret").rglob("*.py"):
        text = path.read_text()
        assert all(int(n) <= 7 for n in re.findall(r"Lemma (\d+)", text)), path
        assert all(int(n) <= 14 for n in re.findall(r"equation \((\d+)\)", text)), path


def test_table_of_bounds_is_made_from_the_results_file():
    command = [sys.executable, ROOT / "benchmarks" / "bounds.py", "--markdown"]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert made in PAGE.read_text()


def test_example():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried > 5) == (0, True)
