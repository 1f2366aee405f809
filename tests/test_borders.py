"""Borders between classes and modules: private attributes stay inside, types are named.

Counted in Python files: attributes with an underscore that are reached through another object than
`self` and are not defined in the same file, uses of `Any`, and public functions that neither the
package calls nor the documentation offers.
"""

import ast
import re
from pathlib import Path
from pydoc import locate

import numpy as np

from unitless.regret import bounds

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "unitless"
OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}
MOST_REACHED = 30
"""Private attributes of other classes or modules."""
MOST_ANY = 350
"""Uses of `Any`."""
NUMBER = re.compile(
    r"-?(0x)?[\d.][\d._xA-Fe+-]*( ?(\*\*|\*|/|<<|-) ?-?[\d._e]+)*|float\(np\.finfo.*\.max\)"
)
"""A formula of a constant that is a number."""


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


def numbers_named(text):
    """(name, value) of the constants of a file that are numbers, or places of a range."""
    assigned = (
        r"^(?:cdef (?:const )?\w+ )?([A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*) = (.+?)(?:\s*#.*)?$"
    )
    for names, formula in re.findall(assigned, text, re.MULTILINE):
        names = names.split(", ")
        is_number = re.fullmatch(NUMBER, formula)
        if len(names) > 1 and re.fullmatch(r"range\(\w+\)", formula):
            yield from zip(names, range(len(names)), strict=True)
        elif len(names) > 1 and is_number is None and re.fullmatch(r"[\d._, ]+", formula):
            yield from zip(names, map(float, formula.split(",")), strict=True)
        elif is_number and len(names) == 1:
            yield names[0], eval(formula, {"float": float, "np": np})


def test_a_constant_has_one_value():
    """A name that says little would have another value in every file."""
    values = {}
    for path in sorted(SOURCE.rglob("*.p*")):
        if path.suffix in (".py", ".pyx", ".pxd"):
            for name, value in numbers_named(path.read_text()):
                values.setdefault(name, {}).setdefault(value, []).append(path.name)
    assert not {name: places for name, places in values.items() if len(places) > 1}


def test_constants_are_read():
    text = "A, BB = range(2)\ncdef double C_1 = 2.0**3  # why\nD = 1 << 4\nE = {}\n"
    found = {"A": 0, "BB": 1, "C_1": 8, "D": 16}
    assert dict(numbers_named(text)) == found


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


def names_used(tree):
    """Names that a file reads, and (module, name) of what it takes from other modules."""
    own, others = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            own.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")[-1]
            others.update((module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute):
            others.add((getattr(node.value, "id", getattr(node.value, "attr", "")), node.attr))
    return own, others


def without_a_caller(sources, doors):
    """Public functions and classes of Python files, as module.name, that nothing uses or offers.

    What a package only passes on in its `__init__.py` is not used by that. In compiled files an
    import or `module.name` counts.
    """
    trees = {path: ast.parse(text) for path, text in sources.items() if path.suffix == ".py"}
    used = {path: names_used(tree) for path, tree in trees.items()}
    compiled = "\n".join(text for path, text in sources.items() if path.suffix != ".py")
    for path, tree in trees.items():
        own = path.parent if path.name == "__init__.py" else path.with_suffix("")
        own_files = (path, path.parent / "__init__.py")
        inside = set().union(*(used[place][0] for place in own_files if place in used))
        outside = set().union(*(used[place][1] for place in used if place not in own_files))
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name[0] == "_":
                continue
            pattern = rf"import .*\b{node.name}\b|^    {node.name},|\b{own.name}\.{node.name}\b"
            is_used = (
                node.name in inside
                or not outside.isdisjoint({(own.name, node.name), (path.parent.name, node.name)})
                or re.search(pattern, compiled, re.MULTILINE)
            )
            name = f"{'.'.join(own.parts)}.{node.name}"
            if not is_used and not any(re.fullmatch(door, name) for door in doors):
                yield name


def test_a_function_without_a_caller_is_found():
    sources = {
        Path("package/__init__.py"): "from package.a import kept, lost",
        Path("package/a.py"): "def kept(): pass\ndef lost(): pass\ndef inner(): pass\ninner()",
        Path("other.py"): "from package import kept",
        Path("compiled.pyx"): "",
    }
    assert [*without_a_caller(sources, set())] == ["package.a.lost"]
    assert not [*without_a_caller(sources, {r"package\.a\.lost"})]
    sources[Path("compiled.pyx")] = "from package.a import lost"
    assert not [*without_a_caller(sources, set())]


def doors():
    """The objects of the reference, and those that other lists of the package name."""
    listed = re.findall(r"^::: (\S+)", (ROOT / "docs/reference/api.md").read_text(), re.MULTILINE)
    for name in listed:
        kind = locate(name)
        yield re.escape(f"{kind.__module__}.{kind.__qualname__}")
    for bounds_of_one in bounds.BY_LEARNER.values():
        names = (f"{bound.__module__}.{bound.__qualname__}" for bound in bounds_of_one)
        yield from map(re.escape, names)


OTHER_DOORS = {
    r"unitless\.cli\.\w+\.\w+",  # a command is found by its name
    r"unitless\.readers\.\w+\.blocks",  # FORMATS names the module
    r"unitless\.state\.state_table",  # for the site, docs/docstrings.py
    r"unitless\.decisions\.coba\.CobaLearner",  # for users of coba, docs/how-to/offers.md
}
"""Patterns of functions that are called by name or from outside, and where."""


def test_a_public_function_has_a_caller_or_a_door():
    """What only tests call belongs to the tests, and what nobody calls goes."""
    sources = {
        path.relative_to(SOURCE.parent): path.read_text()
        for path in sorted(SOURCE.rglob("*.py*"))
        if path.suffix in (".py", ".pyx")
    }
    found = [*without_a_caller(sources, {*doors(), *OTHER_DOORS})]
    assert not found
