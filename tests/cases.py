"""Cases of one test: parametrised where each deserves a line of its own, in one go where not."""

import functools
import inspect
from collections.abc import Mapping
from itertools import combinations, product

CROSSED = {}
"""Tests made by `in_one_test`: the test itself, and its arguments with their cases."""


def in_one_test(argument, cases):
    """Run the test with every case in turn; a failure names its case.

    A law holds for every loss, storage and weight. As separate tests these are thirty thousand,
    and most of their time is pytest's. Where several arguments are given so, any two of their
    cases are tried together, but not all combinations (see `covering`).

    Parameters
    ----------
    argument : str
        The argument of the test that is given each case.
    cases : iterable, mapping of names to cases, or function
        A function is given the parametrised arguments of the test, by name, and returns the cases.
    """

    def decorate(test):
        plain, inner = CROSSED.get(test, (test, {}))
        arguments = {argument: cases} | inner

        @functools.wraps(plain)
        def run(**others):
            named = [_named(own, others) for own in arguments.values()]
            for places in covering(tuple(map(len, named))):
                chosen = [own[place] for own, place in zip(named, places, strict=True)]
                given = {name: case for name, (_, case) in zip(arguments, chosen, strict=True)}
                try:
                    plain(**others, **given)
                except BaseException as error:
                    notes = zip(arguments, chosen, strict=True)
                    error.add_note(f"with {', '.join(f'{a} = {name}' for a, (name, _) in notes)}")
                    raise

        signature = inspect.signature(plain)
        rest = [each for each in signature.parameters.values() if each.name not in arguments]
        run.__signature__ = signature.replace(parameters=rest)
        CROSSED[run] = plain, arguments
        return run

    return decorate


def _named(cases, others):
    if callable(cases):
        cases = cases(**others)
    if isinstance(cases, Mapping):
        return list(cases.items())
    return [(case, case) for case in cases]


@functools.cache
def covering(sizes):
    """Combinations of places in lists of these sizes, such that every two places occur together.

    Two lists are crossed in full. With more, 8 x 2 x 2 x 2 combinations become 16.
    """
    every = list(product(*map(range, sizes)))
    if len(sizes) < 3:
        return every
    missing = set().union(*map(_twos, every))
    chosen = []
    while missing:
        best = max(every, key=lambda places: len(missing & _twos(places)))
        chosen.append(best)
        missing -= _twos(best)
    return chosen


@functools.cache
def _twos(places):
    """The pairs of (list, place) in a combination."""
    return frozenset(combinations(enumerate(places), 2))
