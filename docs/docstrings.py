"""Docstrings as Markdown, for the page of learners and the Markdown twins.

Parameters and state of a learner are declared in its class and added to its docstring when the
package is imported, so the page of learners and the twins use docstrings as they are at run time.
"""

import inspect
import re
from pydoc import locate

HEADING = re.compile(r"^(\w+)\n-+$", re.MULTILINE)
LISTED = ("**Parameters**", "**Attributes**", "**Returns**", "**Yields**", "**Raises**")
EXAMPLES = "Examples\n--------\n"


def signature_of(thing):
    """Return the parameters with their defaults, without types."""
    try:
        found = inspect.signature(thing)
    except ValueError:
        return ""
    plain = []
    for each in found.parameters.values():
        default = each.empty if callable(each.default) else each.default
        if each.name != "self":
            plain.append(each.replace(annotation=each.empty, default=default))
    return str(found.replace(parameters=plain, return_annotation=found.empty))


def described(path):
    """Return name, parameters and docstring of an object, as Markdown."""
    thing = locate(path)
    name = path.rpartition(".")[2]
    text = as_markdown(inspect.getdoc(thing) or "")
    return f"`{name}{signature_of(thing)}`\n\n{text}\n"


def as_markdown(text):
    """Return a docstring with its sections, examples and tables as Markdown."""
    text = HEADING.sub(r"**\1**\n", text.replace(EXAMPLES, ""))
    parts = []
    for part in re.split(r"\n{2,}", re.sub(r"::$", ":", text, flags=re.MULTILINE)):
        if part.startswith(">>> "):
            part = f"```python\n{part}\n```"
        elif part.startswith("==="):
            part = table(part)
        elif parts and parts[-1] in LISTED:
            part = definitions(part)
        parts.append(part)
    return "\n\n".join(parts)


def definitions(part):
    """Return lines `name : type`, each with an indented meaning or none, as a list."""
    found = re.split(r"\n(?! )", part)
    lines = []
    for each in found:
        first, _, meaning = each.partition("\n")
        name, _, kind = first.partition(" : ")
        line = f"- `{name}`" + (f" ({kind})" if kind else "")
        lines.append(f"{line}: {' '.join(meaning.split())}" if meaning else line)
    return "\n".join(lines)


def table(part):
    """Return a table of a docstring, whose columns are as wide as its rules, as Markdown."""
    rule, head, _, *rows, _ = part.splitlines()
    spans = [found.span() for found in re.finditer("=+", rule)]
    spans[-1] = (spans[-1][0], None)
    lines = []
    for row in (head, *rows):
        cells = [row[first:last].strip().replace("|", "\\|") for first, last in spans]
        lines.append("| " + " | ".join(cells) + " |")
    lines.insert(1, "|---" * len(spans) + "|")
    return "\n".join(lines)
