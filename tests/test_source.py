"""What holds for the source as a text: plain names, one place per concern, no integer division."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "unitless"
FILES = sorted(SOURCE.rglob("*.py"))
COMPILED = sorted([*SOURCE.rglob("*.pyx"), *SOURCE.rglob("*.pxd")])
HEADERS = sorted(SOURCE.rglob("*.h"))
TREES = {path: ast.parse(path.read_text()) for path in FILES}

MOST_TOKENS = 9.9
"""Per line of code; the aim is 9."""
SAME_JOB = {"__init__", "base", "river", "losses"}
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
    for path in [*FILES, *COMPILED]:
        if path.suffix != ".pxd":
            modules[path.stem].append(path)
            for name in re.findall(r"^(?:cdef )?class (\w+)", path.read_text(), re.MULTILINE):
                classes[name].append(path)
    shared = [name for name, where in classes.items() if len(where) > 1]
    shared += [name for name, where in modules.items() if len(where) > 1]
    assert set(shared) <= SAME_JOB


# Division of C integers

WHOLE = (
    r"(?:unsigned )?(?:Py_ssize_t|size_t|ptrdiff_t|int|long long|long|short|char|bint|u?int\d+_t)"
)
DECLARED = re.compile(
    rf"^\s*(?:cdef )?(?:public |readonly |inline )*(?P<type>{WHOLE}|double|float)(?:\[\d+\])?\*?"
    r" (?P<names>[\w, =.*\-+/()<>\[\]]+?)(?:  #.*)?$",
    re.MULTILINE,
)
ARGUMENT = re.compile(rf"[(,]\s*(?:const )?(?P<type>{WHOLE}|double) (?P<name>\w+)(?=[,)= ])")
FUNCTION = re.compile(r"(?: {4})?(?:cdef |cpdef |def )[\w .*\[\]]*\w\(|class |cdef class ")
OPERAND = r"[\w.]+(?:\[[^\[\]]*\])?"
DIVISION = re.compile(rf"(?<![\w.*])(?P<left>{OPERAND}) ?(?<!/)/(?![/=]) ?(?P<right>{OPERAND})")


def code_of(text):
    """The lines of Cython without comments, strings and C code in strings."""
    text = re.sub(r'("""|\'\'\')(?:.|\n)*?\1', lambda found: "\n" * found[0].count("\n"), text)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    return [re.sub(r"#.*", "", line) for line in text.splitlines()]


def functions_of(lines):
    """(number of the first line, lines) of each function or method."""
    starts = [0]
    for number, line in enumerate(lines):
        if FUNCTION.match(line):
            starts.append(number)
    return [
        (first, lines[first:last])
        for first, last in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]


def whole_names(text):
    """Names that a piece of code declares as C integers, and as nothing else."""
    types = defaultdict(set)
    for found in DECLARED.finditer(text):
        for name in re.sub(r"=[^,]*", "", found["names"]).split(","):
            types[name.strip(" *").partition("[")[0]].add(found["type"])
    for found in ARGUMENT.finditer(text):
        types[found["name"]].add(found["type"])
    return {name for name, kinds in types.items() if not kinds & {"double", "float"}}


def is_whole(operand, names):
    """Whether an operand is a C integer: a literal, a declared name, or len of something."""
    last = operand.rpartition("self.")[2].partition("[")[0]
    return bool(re.fullmatch(r"\d+", operand)) or last in names


def integer_divisions(text):
    """(line number, line) of divisions of which an integer literal is the left side, or both sides
    are C integers: with `cdivision`, 1 / n is 0.
    """
    lines = code_of(text)
    attributes = whole_names("\n".join(line for line in lines if re.match(r" {4}cdef", line)))
    for first, body in functions_of(lines):
        names = whole_names("\n".join(body)) | attributes
        for number, line in enumerate(body, first + 1):
            for found in DIVISION.finditer(line):
                left, right = found["left"], found["right"]
                literal = re.fullmatch(r"\d+", left)
                if literal or (is_whole(left, names) and is_whole(right, names)):
                    yield number, line.strip()


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.name)
def test_integers_are_not_divided(path):
    """Write 1.0 / n; // where an integer is meant."""
    assert not list(integer_divisions(path.read_text()))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("    a = 1 / n", True),
        ("    a = 1.0 / n", False),
        ("    cdef int n\n    a = n / 2", True),
        ("    cdef Py_ssize_t n, m\n    a = m / n", True),
        ("    cdef Py_ssize_t n\n    cdef double m\n    a = m / n", False),
        ("    cdef int n\n    a = n // 2", False),
        ("    cdef int* n\n    a = n[0] / n[1]", True),
        ("    cdef double n\n    a = n / 2", False),
        ("    a = 2.5 / 3  # 1 / n", False),
        ('    """1 / n"""', False),
        ("cdef double f(int n, int m):\n    return n / m", True),
        ("    a = x**2 / y", False),
    ],
)
def test_an_integer_division_is_found(code, found):
    assert bool(list(integer_divisions(code))) == found


# One place per concern

ONE_PLACE = {
    "range of values": (r"\*\* ?-255\b|0x1p-255", {"core/arithmetic.h"}),
    "infinite values of rows": (
        r"\bnp\.isinf\(|except InfiniteValue",
        {"rows.py", "model/intake.py"},
    ),
    "infinite cells of tables": (r"\.is_infinite\(", {"readers/tables.py"}),
    "size of the values of a block": (
        r"\bextent(_of)?\(",
        {"rows.py", "core/row.pyx", "core/learner.pyx", "core/arithmetic.h", "core/arithmetic.pxd"},
    ),
    "where row r of a block begins": (r"self\.starts\[r\]|return starts\[r\]", {"core/row.pyx"}),
    "dot products": (
        r"double dot\(|def (\w+_)?dot\(",
        {"core/arithmetic.h", "core/arithmetic.pxd"},
    ),
    "exponentials": (r"double (bounded|fast)_exp\(", {"core/arithmetic.h", "core/arithmetic.pxd"}),
    "reading ahead in a thread": (r"threading\.Thread\(", {"readers/prefetch.py"}),
    "softmax": (r"void softmax_slopes", {"core/losses.pxd"}),
    "learning and predicting with the learner of a model": (
        r"(model|found|model_)\.learner\.(learn|predict)(_one)?\b",
        set(),
    ),
    "memory of NumPy arrays": (r"PyObject_GetBuffer\(", {"core/pointers.pxd"}),
}
"""How a concern shows in the text, and the files that it may show in."""


@pytest.mark.parametrize("concern", ONE_PLACE)
def test_a_concern_has_one_implementation(concern):
    sign, places = ONE_PLACE[concern]
    files = [*FILES, *COMPILED, *HEADERS]
    names = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in files}
    found = {name for name, text in names.items() if re.search(sign, text)}
    assert found == places


def test_nothing_is_compiled_at_run_time():
    words = re.compile(r"\bnumba\b|\bllvmlite\b|\bcache_folder\b")
    assert not [str(path) for path in [*FILES, *COMPILED] if words.search(path.read_text())]
