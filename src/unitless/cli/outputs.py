"""Checks of the files that a command will write, before it reads the first row."""

import errno
import os
import stat
import sys
from collections.abc import Iterable, Mapping


def check_outputs(
    outputs: Mapping[str, str | None], inputs: Iterable[str | None], *, may_be: str | None = None
) -> None:
    """Refuse outputs that would destroy an input or each other, or that cannot be written.

    Parameters
    ----------
    outputs
        Files to be written, by the option that names them; None and "-" are skipped.
    inputs
        Files that the command reads; "-" is standard input.
    may_be
        An input that the first output may replace: `--resume m --save m`.
    """
    known = {name: path for name, path in outputs.items() if path not in (None, "-")}
    for position, (name, path) in enumerate(known.items()):
        assert path is not None
        option = f"{name} {path}" if name.startswith("-") else path
        for source in inputs:
            allowed = position == 0 and may_be is not None and source == may_be
            if source is not None and not allowed and is_same_file(path, source):
                raise ValueError(
                    f"{option}: this is the input file {source}; choose another file for the output"
                )
        for other, taken in list(known.items())[:position]:
            assert taken is not None
            if is_same_file(path, taken):
                raise ValueError(f"{option}: {other} writes to the same file; choose another one")
        check_writable(path)


def is_same_file(path: str, other: str) -> bool:
    """Return whether two names mean one regular file, through links and other spellings too.

    >>> is_same_file("no/such/../file", "no/file"), is_same_file("a", "b")
    (True, False)
    """
    if other == "-":
        return _is_standard_input(path)
    try:
        return os.path.samefile(path, other) and os.path.isfile(path)
    except OSError:  # at least one does not exist
        return os.path.realpath(path) == os.path.realpath(other)


def _is_standard_input(path: str) -> bool:
    """Return whether standard input was redirected from this file."""
    try:
        given = os.fstat(sys.stdin.fileno())
        return stat.S_ISREG(given.st_mode) and os.path.samestat(given, os.stat(path))
    except (OSError, ValueError, AttributeError):
        return False


def check_writable(path: str) -> None:
    """Raise the error that opening the file for writing would raise later."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise _error(errno.EISDIR, path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist", path)
    if os.path.exists(target):
        if not os.access(target, os.W_OK):
            raise _error(errno.EACCES, path)
        if not os.path.isfile(target):  # a device or a named pipe is written in place
            return
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _error(errno.EACCES, path)


def _error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)


def results_path(report: str | None, results: str | None) -> str | None:
    """Return where the results of a run go; beside a report, never over a file of another kind.

    >>> results_path("page.html", None), results_path("page.html", "my.json")
    ('page.results.json', 'my.json')
    """
    if report is None or results is not None:
        return results
    path = os.path.splitext(report)[0] + ".results.json"
    if os.path.exists(path):
        from unitless.evaluation import read_results

        try:
            read_results(path)
        except ValueError:
            raise ValueError(
                f"--report {report}: its results would replace {path}, which is not a results "
                "file; choose another file with --results FILE"
            ) from None
    return path
