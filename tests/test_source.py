"""What holds for the source as a text: small files, plain names, documented Numba only."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "unitless"
FILES = sorted(SOURCE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text()) for path in FILES}

MOST_LINES = 350
MOST_TOKENS = 9.9
"""Per line of code; the aim is 9."""
MOST_ARGUMENTS = 8
SAME_JOB = {"__init__.py", "base.py", "river.py"}
"""Modules that share a name because they do the same job in different packages."""

LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_tokens(text):
    """Tokens that are neither layout nor comments nor docstrings."""
    begins_statement = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in LAYOUT:
            begins_statement |= token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            continue
        if not (token.type == tokenize.STRING and begins_statement):
            yield token
        begins_statement = False


def kernels(tree):
    """Compiled functions that Python calls, each with a cache of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            decorators = {ast.unparse(each).partition("(")[0] for each in node.decorator_list}
            if decorators & {"njit", "kernel", "shared"}:
                yield node


def test_no_file_is_longer_than_a_few_pages():
    long = {
        str(path.relative_to(SOURCE)): lines
        for path in FILES
        if (lines := path.read_text().count("\n")) > MOST_LINES
    }
    assert not long


def test_lines_are_not_packed():
    count, lines = 0, 0
    for path in FILES:
        tokens = list(code_tokens(path.read_text()))
        count += len(tokens)
        lines += len({line for t in tokens for line in range(t.start[0], t.end[0] + 1)})
    assert count / lines <= MOST_TOKENS


def test_the_formatter_is_hardly_ever_told_to_skip():
    assert sum(path.read_text().count("fmt: skip") for path in FILES) <= 5


def test_classes_and_modules_have_names_of_their_own():
    classes, modules = defaultdict(list), defaultdict(list)
    for path, tree in TREES.items():
        modules[path.name].append(path)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(path)
    shared = [name for name, where in classes.items() if len(where) > 1]
    shared += [name for name, where in modules.items() if len(where) > 1]
    assert set(shared) <= SAME_JOB


def test_only_documented_numba_is_used():
    private = re.compile(r"_nrt\b|__class__ = |numba\.core\.(registry|dispatcher|compiler)")
    assert not [str(path) for path in FILES if private.search(path.read_text())]


def test_kernels_take_few_arguments():
    many = {
        node.name: len(node.args.args)
        for tree in TREES.values()
        for node in kernels(tree)
        if len(node.args.args) > MOST_ARGUMENTS
    }
    assert not many


NAME_THE_CELL = {
    "encoders/interactions.py",
    "encoders/typed_column.py",
    "readers/vocabulary.py",
    "readers/vw.py",
}
"""Files that refuse an infinite value because only they know its line or column by name."""
ONE_PLACE = {
    "range of values": (r"\*\* ?-?255\b", {"units.py"}),
    "infinite values": (
        r"\bnp\.isinf\(",
        {"rows.py", *NAME_THE_CELL},
    ),
    "size of the values of a block": (
        r"\bextent\(",
        {"rows.py", "units.py", "learners/base.py", "blend/hedge.py"},
    ),
    "where row r of a block begins": (
        r"starts\[r(ow)?\] if|return starts\[r\]",
        {"rows.py", "learners/loop.py"},
    ),
    "dot products": (r"def (\w+_)?dot\(", {"kernels/arithmetic.py"}),
    "reading ahead in a thread": (r"threading\.Thread\(", {"readers/prefetch.py"}),
    "softmax": (r"def softmax_slopes", {"learners/loop.py"}),
}
"""How a concern shows in the text, and the files that it may show in."""


@pytest.mark.parametrize("concern", ONE_PLACE)
def test_a_concern_has_one_implementation(concern):
    sign, places = ONE_PLACE[concern]
    names = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in FILES}
    found = {name for name, text in names.items() if re.search(sign, text)}
    assert found == places
