"""Docstrings as Markdown, for the page of learners and the Markdown twins.

Parameters and state of a learner are declared in its class, as `parameters` and `saved`. They are
added to its docstring here: parameters after the summary, and a table of the state at the end.
"""

import inspect
import re
from pydoc import locate

from unitless.state import Component, Field, state_table

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
    text = as_markdown(docstring_of(thing))
    return f"`{name}{signature_of(thing)}`\n\n{text}\n"


def docstring_of(thing):
    """Return the docstring of an object; that of a learner has its parameters and its state."""
    text = inspect.getdoc(thing) or ""
    name = getattr(thing, "__name__", "")
    if text.startswith(f"{name}("):  # a signature, with which compiled code begins
        text = text.partition("\n")[2].lstrip()
    if not (inspect.isclass(thing) and hasattr(thing, "saved")):
        return text
    summary, _, rest = text.partition("\n\n")
    lines = [f"{each.name} : {each.kind}\n    {each.meaning}." for each in thing.parameters]
    section = ["\n".join(["Parameters", "----------", *lines])] if lines else []
    state = inspect.cleandoc(state_table(fields_of(thing())))
    return "\n\n".join([summary, *section, *([rest] if rest else []), state])


def fields_of(thing, start=""):
    """Return the arrays and numbers of a state, and those of its parts, by name."""
    found = []
    for entry in thing.saved:
        if isinstance(entry, Field):
            found.append(entry._replace(name=start + entry.name))
        elif isinstance(entry, Component):
            part = getattr(thing, entry.name)
            if hasattr(part, "saved"):
                found += fields_of(part, f"{start}{entry.name}.")
    return found


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
