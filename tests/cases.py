"""Cases of one test: parametrised where each deserves a line of its own, in one go where not."""

import functools
import inspect
from collections.abc import Mapping


def in_one_test(argument, cases):
    """Run the test with every case in turn; a failure names its case.

    A law holds for every loss, storage and weight. As separate tests these are thirty thousand,
    and most of their time is pytest's.

    Parameters
    ----------
    argument : str
        The argument of the test that is given each case.
    cases : iterable, mapping of names to cases, or function
        A function is given the other arguments of the test, by name, and returns the cases.
    """

    def decorate(test):
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(**others):
            for name, case in _named(cases, others):
                try:
                    test(**others, **{argument: case})
                except BaseException as error:
                    error.add_note(f"with {argument} = {name}")
                    raise

        rest = [each for each in signature.parameters.values() if each.name != argument]
        run.__signature__ = signature.replace(parameters=rest)
        return run

    return decorate


def _named(cases, others):
    if callable(cases):
        cases = cases(**others)
    if isinstance(cases, Mapping):
        return list(cases.items())
    return [(case, case) for case in cases]
