"""Plain twins of the readers' kernels: slow, from the formats' descriptions, obviously right."""

import io
import math
import re

from unitless.readers import open_blocks

DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WORD = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


def number(text):
    """The value of a decimal number, NaN for nan; ValueError for other text and for infinity."""
    if not DECIMAL.fullmatch(text) and not WORD.fullmatch(text):
        raise ValueError(text)
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return value


def svmlight_line(line):
    """(label, {index: value}) of a line, None if it has no row."""
    tokens = re.findall(r"[^ \t\r]+", line.partition("#")[0])
    if not tokens:
        return None
    label, values, previous = number(tokens[0]), {}, -1
    for token in tokens[1:]:
        index, colon, value = token.partition(":")
        if index == "qid" and re.fullmatch("[0-9]{1,18}", value):
            continue
        if not colon or not re.fullmatch("[0-9]{1,18}", index) or int(index) > 2**31 - 2:
            raise ValueError(token)
        if int(index) <= previous:
            raise ValueError(token)
        previous = int(index)
        values[previous] = number(value)
    return label, values


def vw_line(line):
    """(label, importance, tag, {name: value}) of a line, None if it is blank."""
    head, bar, rest = line.partition("|")
    if not line.strip(" \t\r\n"):
        return None
    if not bar:
        raise ValueError(line)
    if "\t" in head:
        head = head.partition("\t")[2]
    words, tag = [word for word in head.split(" ") if word], ""
    if words and (not head.endswith(" ") or words[-1].startswith("'")):
        tag = words.pop().removeprefix("'")
    if len(words) > 2:
        raise ValueError(head)
    label = number(words[0]) if words else math.nan
    importance = number(words[1]) if len(words) > 1 else 1.0
    if not importance >= 0:
        raise ValueError(head)
    features = {}
    for name, value in vw_features(rest):
        features[name] = features.get(name, 0.0) + value
        if math.isinf(features[name]):
            raise ValueError(name)
    return label, importance, tag, {k: v for k, v in features.items() if v != 0}


def vw_features(rest):
    """The (name, value) pairs behind the first bar of a line."""
    place, space, weight = 0, None, 1.0
    while place <= len(rest):
        if space is None:  # a namespace opens
            token = re.compile(r"[^ \t|]*").match(rest, place)
            space, colon, given = token.group().partition(":")
            if colon and not space:
                raise ValueError(token.group())
            if colon and not DECIMAL.fullmatch(given):
                raise ValueError(token.group())
            weight = float(given) if colon else 1.0
        else:
            token = re.compile(r"[^ \t|:]*(:[^ \t|]*)?").match(rest, place)
            name, colon, value = token.group().partition(":")
            if colon and name and is_text(value):
                token = re.compile(r"[^ \t]*").match(rest, place)
                yield spelt(space, token.group().replace(":", "^", 1)), 1.0
            elif name or colon:
                if not name:
                    raise ValueError(token.group())
                if math.isinf(weight):
                    raise ValueError(weight)
                yield spelt(space, name), weight * (number(value) if colon else 1.0)
        place = token.end() + 1
        if rest[token.end() : place] == "|":
            space = None


def is_text(value):
    return bool(value) and not re.match(r"[+.-]*\d|:", value) and not WORD.fullmatch(value)


def spelt(space, name):
    return f"{space}^{name}" if space else name


def csv_records(data, separator=b",", quote=b'"'):
    """(start, line, fields) of each record; fields is None if a quote is misplaced."""
    found, start, line = [], 0, 0
    while start < len(data):
        at, fields = start, 1
        while True:
            if quote is not None and data[at : at + 1] == quote:
                close = closing(data, at, quote)
                behind = data[close + 1 : close + 3]
                if close < 0 or (behind[:1] not in (separator, b"\n") and behind != b"\r\n"):
                    fields = None
                    break
                at = close + 1 + (behind == b"\r\n")
            while data[at : at + 1] not in (separator, b"\n"):
                at += 1
            if data[at : at + 1] == b"\n":
                break
            at, fields = at + 1, fields + 1
        end = data.index(b"\n", at) + 1
        found.append((start, line, fields))
        start, line = end, line + data.count(b"\n", start, end)
    return found


def closing(data, at, quote):
    """The place of the quote that closes the one at a place; -1 if there is none."""
    at += 1
    while (at := data.find(quote, at)) >= 0 and data[at + 1 : at + 2] == quote:
        at += 2
    return at


def read(data, **options):
    """All blocks of a file given as bytes."""
    return list(open_blocks(io.BytesIO(data), read_ahead=False, **options))


def sparse_rows(blocks, names=()):
    """[(label, weight, {column: value})] of svmlight or VW blocks; names instead of numbers."""
    rows, names = [], list(names)
    for block in blocks:
        names += block.new_names
        values = block.rows
        for i in range(len(block)):
            span = slice(values.starts[i], values.starts[i + 1])
            columns = values.indices[span].tolist()
            assert columns == sorted(set(columns))
            weight = 1.0 if values.weights is None else float(values.weights[i])
            found = zip(columns, values.values[span].tolist(), strict=True)
            row = {names[c] if names else c: v for c, v in found}
            rows.append((float(values.targets[i]), weight, row))
    return rows
