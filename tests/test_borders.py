"""Borders between classes and modules: private attributes stay inside, types are named.

Counted in Python files: attributes with an underscore that are reached through another object than
`self` and are not defined in the same file, and uses of `Any`.
"""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "unitless"
OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}
MOST_REACHED = 30
"""Private attributes of other classes or modules."""
MOST_ANY = 570
"""Uses of `Any`; the aim is 350, and this number may only fall."""


def defined_in(tree):
    """Names with an underscore that a file defines: functions, classes, fields and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("self", "cls")
            and isinstance(node.ctx, ast.Store)
        ):
            yield node.attr


def private_attributes(text):
    """(line, attribute) of private attributes that belong to another class or module."""
    tree = ast.parse(text)
    own = {*defined_in(tree)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
            continue
        is_dunder = node.attr.startswith("__") and node.attr.endswith("__")
        is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        if not (is_dunder or is_own or node.attr in own or node.attr in OF_NAMED_TUPLES):
            yield node.lineno, node.attr


def uses_of_any(text):
    """Lines of code that name `Any`, once per use; imports do not count."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id == "Any":
            yield node.lineno


def test_private_attributes_are_reached_from_their_own_file():
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, name in private_attributes(path.read_text())
    ]
    assert len(found) <= MOST_REACHED, "\n".join(found)


def test_a_private_attribute_of_another_object_is_found():
    assert [*private_attributes("model._learner = 1")] == [(1, "_learner")]
    assert not [*private_attributes("self._x = 1")]
    assert not [*private_attributes("def _f(): pass\nother._f()")]
    assert not [*private_attributes("t._replace(a=1).__dict__")]


@pytest.mark.parametrize("name", ["MAX_EXPONENT", "ROWS", "T"])
def test_a_constant_has_one_definition(name):
    """A name that says little would have another value in every file."""
    pattern = re.compile(rf"^(cdef \w+ )?([A-Z]+, )*{name}(, [A-Z]+)* = ", re.MULTILINE)
    found = [
        str(path.relative_to(SOURCE))
        for path in sorted(SOURCE.rglob("*.py*"))
        if path.suffix in (".py", ".pyx") and pattern.search(path.read_text())
    ]
    assert len(found) <= 1, found


def test_types_are_named():
    found = {
        str(path.relative_to(SOURCE)): [*uses_of_any(path.read_text())]
        for path in sorted(SOURCE.rglob("*.py"))
    }
    places = "\n".join(f"{name}: lines {sorted(lines)}" for name, lines in found.items() if lines)
    assert sum(map(len, found.values())) <= MOST_ANY, places


def test_any_is_counted_once_per_use():
    text = "from typing import Any\ndef f(x: Any, y: dict[str, Any]) -> Any: pass"
    assert len([*uses_of_any(text)]) == 3
