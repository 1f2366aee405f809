"""Logs in which each decision has its own possible actions, with features.

Lines are read as JSON, not as a table, whose columns would be all features of all actions.
"""

import json
import math
import sys
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unitless.decisions.contexts import Features, with_features
from unitless.decisions.exploration import Ints
from unitless.decisions.logs import LEARNED, Compared, LogEvaluation, Logged
from unitless.readers.blocks import ReadError
from unitless.readers.jsonl import open_array
from unitless.readers.source import File, Source
from unitless.suggestions import no_such_column

CHUNK = 1 << 20
"""Bytes that are parsed at a time."""
FIRST = "first in the list"
JOINED: Mapping[Hashable, Features] = {"": {}}
"""The only action of a context that contains the features of an action already."""
Record = dict[str, object]


@dataclass(frozen=True)
class OfferedRows:
    """Some lines of a file, each a decision."""

    file: str
    lines: list[int]
    records: list[Record]
    """The lines without their possible actions."""
    offered: list[dict[str, Features]]
    """The possible actions, each with the features of the context and its own."""

    def __len__(self) -> int:
        return len(self.lines)


class OfferedLog(LogEvaluation):
    """A bandit that learns from a log with possible actions, and values of policies.

    The learned policy chooses the possible action with the largest estimate. It is compared with
    the policy that chooses the first one.

    Examples
    --------
    The cheaper one of two offers is clicked:

    >>> from unitless.decisions.bandit import OnlineBandit
    >>> rng = np.random.default_rng(0)
    >>> prices = rng.uniform(size=(2000, 2))
    >>> shown = rng.integers(0, 2, 2000)
    >>> clicked = (prices.argmin(axis=1) == shown).astype(float)
    >>> offered = [{"A": {"price": a}, "B": {"price": b}} for a, b in prices.tolist()]
    >>> names = ["AB"[k] for k in shown]
    >>> p = np.full(2000, 0.5)
    >>> log = OfferedLog(OnlineBandit())
    >>> log.add(Logged([{}] * 2000, names, clicked, p, offered=offered))
    >>> for policy, found, _ in log.values():
    ...     print(f"{policy}: {found.dr:.2f}, from {found.low:.2f} to {found.high:.2f}")
    learned policy: 0.98, from 0.89 to 1.00
    first in the list: 0.49, from 0.40 to 0.58
    """

    def _add_piece(self, logged: Logged) -> None:
        bandit, offered = self.bandit, logged.offered
        assert offered is not None
        names = [[*each] for each in offered]
        lengths = np.array([*map(len, names)])
        is_possible = np.arange(lengths.max()) < lengths[:, None]
        estimates = np.full(is_possible.shape, -math.inf)
        knows = bandit.rewards > 0
        joined = [row for each in offered for row in each.values()]
        estimates[is_possible] = bandit.estimates(joined, JOINED)[:, 0] if knows else 0.0
        shown = [each[str(action)] for each, action in zip(offered, logged.actions, strict=True)]
        one = [*JOINED] * len(shown)
        bandit.learn(shown, one, logged.rewards, logged.probabilities, actions=JOINED)
        places = _places(names, logged.actions)
        best = estimates.argmax(axis=1) if knows else places
        own = np.arange(len(places))
        p = np.ones(len(places)) if logged.probabilities is None else logged.probabilities
        of_logged = estimates[own, places]
        for policy, chosen in ((LEARNED, best), (FIRST, np.zeros_like(places))):
            matches = (chosen == places).astype(np.float64)
            self._count(policy, estimates[own, chosen], matches / p, of_logged)
            self._matches[policy].append(matches)
        if logged.choices is not None:
            self._add_choices(_places(names, logged.choices), estimates, places, p)
        codes = [self.codes.setdefault(action, len(self.codes)) for action in logged.actions]
        self._keep(logged, np.array(codes), p)

    def _compared(self) -> Iterator[Compared]:
        yield FIRST, FIRST, np.concatenate(self._matches[FIRST])


def _places(names: Sequence[list[str]], actions: Sequence[object]) -> Ints:
    """Where each action stands among the possible ones."""
    return np.array([own.index(str(a)) for own, a in zip(names, actions, strict=True)])


def offered_rows(
    file: File,
    column: str,
    excluded: Collection[str | None] = (),
    kept: Collection[str] = (),
    encoding: str | None = None,
) -> Iterator[OfferedRows]:
    """Read JSON lines whose key `column` has the possible actions.

    Keys that are `excluded` are no features; of the others only those that are `kept`, if any.

    >>> import io
    >>> text = b'{"age": 31, "offers": [{"id": "A", "price": 3.5}, {"id": 2, "price": 1}]}'
    >>> for rows in offered_rows(io.BytesIO(text), "offers"):
    ...     print(rows.offered)
    [{'A': {'age': 31, 'price': 3.5}, '2': {'age': 31, 'price': 1}}]
    """
    source = Source(file, encoding=encoding)
    line = 0
    try:
        open_array(source)
        for data, _ in source.chunks(CHUNK):
            found = OfferedRows(source.name, [], [], [])
            for text in data.split(b"\n")[:-1]:
                line += 1
                if not text.strip():
                    continue
                try:
                    record = _parsed(text)
                    offered = _offered(record, column, excluded, kept)
                except _WrongLog as problem:
                    where, why = problem.args
                    raise ReadError(why, file=source.name, line=line, column=where) from None
                found.lines.append(line)
                found.records.append(record)
                found.offered.append(offered)
            yield found
    finally:
        source.close()


class _WrongLog(ValueError):
    """What is wrong with a line: (column or None, why)."""


def _parsed(text: bytes) -> Record:
    """The object of a line; objects inside are tuples of pairs, which tell keys given twice."""
    try:
        pairs = json.loads(text, object_pairs_hook=tuple)
        if b"\\u" in text:
            json.dumps(pairs, ensure_ascii=False).encode()  # half of a surrogate pair is an error
    except (ValueError, RecursionError) as error:
        raise _WrongLog(None, f"this is no JSON object ({error})") from None
    if not isinstance(pairs, tuple):
        raise _WrongLog(None, "a JSON object was expected")
    return _unique(pairs, None, "key")


def _unique(pairs: Sequence[tuple[str, object]], column: str | None, what: str) -> Record:
    """Pairs as a dict."""
    made: Record = {}
    for name, value in pairs:
        if name in made:
            raise _WrongLog(column or name, f"{what} {name!r} is given twice")
        made[name] = value
    return made


def _offered(
    record: Record, column: str, excluded: Collection[str | None], kept: Collection[str]
) -> dict[str, Features]:
    """Take the possible actions out of a record; each has the features of the context, too."""
    if column not in record:
        raise _WrongLog(None, no_such_column(column, record))
    given = record.pop(column)
    context: Features = {
        name: _cell(name, value)
        for name, value in record.items()
        if name not in excluded and (not kept or name in kept)
    }
    made: dict[str, Features] = {}
    for name, pairs in _named(given, column):
        if name in made:
            raise _WrongLog(column, f"action {name!r} is given twice")
        if not isinstance(pairs, tuple):
            why = f"the features of action {name!r} are no object {{name: value}}"
            raise _WrongLog(column, why)
        features = _unique(pairs, column, f"action {name!r}: feature")
        cells: Features = {
            key: _cell(column, features[key]) for key in features if key not in excluded
        }
        try:
            made[name] = with_features(context, cells)
        except ValueError as error:
            raise _WrongLog(column, str(error)) from None
    if not made:
        raise _WrongLog(column, "there are no possible actions")
    return made


def _named(given: object, column: str) -> Iterator[tuple[str, object]]:
    """The actions of an object or of a list, with what should be their features."""
    if isinstance(given, tuple):
        yield from given
        return
    if not isinstance(given, list):
        raise _WrongLog(column, "an object or a list of the possible actions was expected")
    for k, each in enumerate(given, 1):
        if not isinstance(each, tuple):
            raise _WrongLog(column, f"action {k} of the list is no object")
        keys = [key for key, _ in each]
        key = "id" if "id" in keys else "name"
        if key not in keys:
            raise _WrongLog(column, f'action {k} of the list has no "id" and no "name"')
        value = next(value for own, value in each if own == key)
        if not isinstance(value, str | int | float):
            raise _WrongLog(column, f'the "{key}" of action {k} of the list is no text or number')
        if keys.count(key) > 1:
            raise _WrongLog(column, f'action {k} of the list: key "{key}" is given twice')
        yield name_of(value), tuple(pair for pair in each if pair[0] != key)


def _cell(column: str, value: object) -> object:
    """A value of a feature: text, a boolean, a finite number, or None."""
    if isinstance(value, list | tuple):
        raise _WrongLog(
            column, "a feature is a number, text or boolean; leave it out with --ignore"
        )
    if isinstance(value, int | float) and abs(value) > sys.float_info.max:
        raise _WrongLog(column, "an infinite number cannot be a feature")
    return value


def name_of(action: object) -> str:
    """The name of an action as text.

    >>> name_of("A"), name_of(7), name_of(7.0)
    ('A', '7', '7')
    """
    is_whole = isinstance(action, float) and action.is_integer()
    return str(int(action) if is_whole else action)  # type: ignore[call-overload]
