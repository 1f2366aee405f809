"""Archives: many models in one SQLite file, which are loaded one by one.

Opening an archive reads the names and compares their digest; reading a model reads the bytes of
that model, which have a digest of their own. So a file may hold millions (model-format.md).
"""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from unitless.persistence.container import (
    FORMAT,
    SQLITE,
    ModelFileError,
    Pathlike,
    replacing,
    require_format,
)
from unitless.persistence.saving import from_bytes

SCHEMA = f"""
    PRAGMA journal_mode = OFF;
    PRAGMA user_version = {FORMAT};
    CREATE TABLE models (name BLOB PRIMARY KEY, model BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE contents (digest BLOB NOT NULL);
"""
NAMES = "SELECT name FROM models ORDER BY name"


@contextmanager
def many_writer(path: Pathlike) -> Iterator[Callable[[str, bytes], None]]:
    """A function that adds a model, as `as_bytes` makes it, under a name.

    The file takes its place at the end, if there was no error; until then the old one can be read.

    >>> import tempfile
    >>> from unitless.learners import Coordinate
    >>> from unitless.persistence.saving import as_bytes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with many_writer(f"{folder}/models") as add:
    ...         add("ann", as_bytes(Coordinate()))
    ...         add("bob", as_bytes(Coordinate("hinge")))
    ...     store = Many(f"{folder}/models")
    ...     print(list(store), store["bob"].loss.name)
    ['ann', 'bob'] hinge
    """
    with (
        replacing(path) as file,
        closing(sqlite3.connect(file.name, isolation_level=None)) as database,
    ):

        def add(name: str, model: bytes) -> None:
            try:
                database.execute("INSERT INTO models VALUES (?, ?)", (_key(name), model))
            except sqlite3.IntegrityError:
                raise ValueError(f"there is a model {name!r} already") from None

        try:
            database.executescript(SCHEMA)
            database.execute("BEGIN")
            yield add
            database.execute("INSERT INTO contents VALUES (?)", (_digest(database),))
            database.execute("COMMIT")
        except sqlite3.OperationalError as error:  # such as a full disk
            raise OSError(errno.EIO, str(error), os.fspath(path)) from None


def _key(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _digest(database: sqlite3.Connection) -> bytes:
    """The digest of all names, each with its length."""
    made = blake2b(digest_size=16)
    for (name,) in database.execute(NAMES):
        made.update(len(name).to_bytes(8, "little") + name)
    return made.digest()


class Many(Mapping[str, object]):
    """The models of a file by name; each is loaded when it is accessed.

    Raises
    ------
    ModelFileError
        If the file is not a whole one of many models. Nothing in it is ever executed.
    """

    def __init__(self, path: Pathlike) -> None:
        self.path = os.fspath(path)
        with open(path, "rb") as file:
            if file.read(len(SQLITE)) != SQLITE:
                raise ModelFileError(path, "it is not a file of many models, or it is damaged")
        with self._opened() as database:
            number = database.execute("PRAGMA user_version").fetchone()[0]
            require_format(path, number)
            if database.execute("SELECT digest FROM contents").fetchall() != [(_digest(database),)]:
                raise ModelFileError(path, "it is damaged: its names are not what was written")
            self._count: int = database.execute("SELECT count(*) FROM models").fetchone()[0]

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The file, to be read; what SQLite refuses is an error that names it."""
        place = f"{Path(self.path).absolute().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(place, uri=True)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                yield database
        except (sqlite3.Error, TypeError, UnicodeDecodeError) as error:
            raise ModelFileError(
                self.path, f"it is not a file of many models, or it is damaged ({error})"
            ) from None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        with self._opened() as database:
            for (name,) in database.execute(NAMES):
                yield name.decode("utf-8", "surrogatepass")

    def __getitem__(self, name: str) -> Any:
        with self._opened() as database:
            query = "SELECT model FROM models WHERE name = ?"
            found = database.execute(query, (_key(name),)).fetchone()
        if found is None:
            raise KeyError(name)
        return from_bytes(f"{self.path}, model {name!r}", found[0])
