"""Archives: many models in one file, which are loaded one by one.

An archive is a safetensors file of bytes: `models` holds whole model files (model-format.md),
each with a digest of its own; an index, sorted by name, says where each one is. Opening it checks
the index, reading a model reads the bytes of that model, so that a file may hold millions.
"""

import json
import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from unitless.persistence.container import ModelFileError, Pathlike, replacing
from unitless.persistence.saving import from_bytes

NAME, FORMAT = "unitless.many", 1
ROOM = 4096
"""Bytes kept for the header, which is known last; safetensors allows trailing blanks."""
INDEX = ("names", "name_ends", "starts", "ends")


@contextmanager
def many_writer(path: Pathlike) -> Iterator[Callable[[str, bytes], None]]:
    """A function that adds a model, as `as_bytes` makes it, under a name.

    The file appears at the end, if there was no error.

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
    places: dict[bytes, tuple[int, int]] = {}
    with replacing(path) as file:
        file.write(b" " * ROOM)

        def add(name: str, model: bytes) -> None:
            key = name.encode("utf-8", "surrogatepass")
            if key in places:
                raise ValueError(f"there is a model {name!r} already")
            start = file.tell() - ROOM
            file.write(model)
            places[key] = start, start + len(model)

        yield add
        _write_index(file, dict(sorted(places.items())))


def _write_index(file: BinaryIO, places: dict[bytes, tuple[int, int]]) -> None:
    """Write the index behind the models, and the header before them."""
    names = np.frombuffer(b"".join(places), dtype=np.uint8)
    name_ends = np.cumsum([len(name) for name in places], dtype=np.int64)
    spans = np.array([*places.values()], dtype=np.int64).reshape(-1, 2)
    index = [names, name_ends, *np.ascontiguousarray(spans.T)]
    at = file.tell() - ROOM
    entries: dict[str, Any] = {
        "__metadata__": {NAME: json.dumps([FORMAT, _digest(index)])},
        "models": {"dtype": "U8", "shape": [at], "data_offsets": [0, at]},
    }
    for name, part in zip(INDEX, index, strict=True):
        file.write(part.data)
        dtype = "U8" if name == "names" else "I64"
        offsets = [at, at + part.nbytes]
        entries[name] = {"dtype": dtype, "shape": [len(part)], "data_offsets": offsets}
        at += part.nbytes
    file.seek(0)
    file.write((ROOM - 8).to_bytes(8, "little"))
    file.write(json.dumps(entries).encode().ljust(ROOM - 8))


def _digest(index: Sequence[NDArray[Any]]) -> str:
    return blake2b(b"".join(part.data for part in index), digest_size=16).hexdigest()


class Many(Mapping[str, Any]):
    """The models of a file by name; each is loaded when it is accessed.

    Raises
    ------
    ModelFileError
        If the file is not a whole one of many models. Nothing in it is ever executed.
    """

    def __init__(self, path: Pathlike) -> None:
        self.path = os.fspath(path)
        try:
            file = safe_open(path, "numpy").__enter__()  # type: ignore[no-untyped-call]
            number, digest = json.loads(file.metadata()[NAME])
            self._models = file.get_slice("models")
            index = [file.get_tensor(name) for name in INDEX]
        except (SafetensorError, KeyError, TypeError, ValueError):
            raise ModelFileError(
                path, "it is not a file of many models, or it is damaged"
            ) from None
        if number != FORMAT:
            raise ModelFileError(path, f"its format {number!r} is not known: update unitless")
        if _digest(index) != digest:
            raise ModelFileError(path, "it is damaged: its index is not what was written")
        self._names, self._name_ends, self._starts, self._ends = index

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[str]:
        return (self._name(k).decode("utf-8", "surrogatepass") for k in range(len(self)))

    def _name(self, k: int) -> bytes:
        start = self._name_ends[k - 1] if k else 0
        return bytes(self._names[start : self._name_ends[k]])

    def __getitem__(self, name: str) -> Any:
        key = name.encode("utf-8", "surrogatepass")
        k = bisect_left(range(len(self)), key, key=self._name)
        if k == len(self) or self._name(k) != key:
            raise KeyError(name)
        start = int(self._starts[k])
        end = int(self._ends[k])
        data = self._models[start:end].tobytes()
        return from_bytes(f"{self.path}, model {name!r}", data)
