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

    Outputs are named by their options. The first one may replace the input `may_be`, as in
    `--resume m --save m`.
    """
    taken: dict[str, str] = {}
    for name, path in outputs.items():
        if path is None or path == "-":
            continue
        option = f"{name} {path}" if name.startswith("-") else path
        for source in inputs:
            allowed = not taken and may_be is not None and source == may_be
            if source is not None and not allowed and is_same_file(path, source):
                raise ValueError(
                    f"{option}: this is the input file {source}; choose another file for the output"
                )
        for other, written in taken.items():
            if is_same_file(path, written):
                raise ValueError(f"{option}: {other} writes to the same file; choose another one")
        check_writable(path)
        taken[name] = path


def is_same_file(path: str, other: str) -> bool:
    """Return whether two names mean one regular file, through links and other spellings too.

    "-" is the file that standard input was redirected from.

    >>> is_same_file("no/such/../file", "no/file"), is_same_file("a", "b")
    (True, False)
    """
    try:
        given = os.fstat(sys.stdin.fileno()) if other == "-" else os.stat(other)
        return stat.S_ISREG(given.st_mode) and os.path.samestat(given, os.stat(path))
    except (OSError, ValueError, AttributeError):  # at least one does not exist
        return os.path.realpath(path) == os.path.realpath(other)


def check_writable(path: str) -> None:
    """Raise the error that opening the file for writing would raise later."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist", path)
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    exists = os.path.exists(target)
    is_special = exists and not os.path.isfile(target)  # it is written in place, not replaced
    may_write = not exists or os.access(target, os.W_OK)
    if not may_write or not (is_special or os.access(folder, os.W_OK | os.X_OK)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


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
