"""Archives: many models in one file, which are loaded one by one.

An archive is a safetensors file of bytes: `models` holds whole model files (model-format.md),
each with a digest of its own; an index, sorted by name, says where each one is. Opening it checks
the index, reading a model reads the bytes of that model, so that a file may hold millions.
"""

import json
import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from hashlib import blake2b
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from unitless.persistence.container import ModelFileError, Pathlike, replacing
from unitless.persistence.saving import from_bytes

NAME, FORMAT = "unitless.many", 1
ROOM = 4096
"""Bytes kept for the header, which is known last; safetensors allows trailing blanks."""
INDEX = ("names", "name_ends", "starts", "ends")


class ManyWriter(AbstractContextManager["ManyWriter"]):
    """Writes models one after the other; the file appears when it is closed without an error.

    >>> import tempfile
    >>> from unitless.learners import Coordinate
    >>> from unitless.persistence.saving import as_bytes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ManyWriter(f"{folder}/models") as writer:
    ...         writer.add("ann", as_bytes(Coordinate()))
    ...         writer.add("bob", as_bytes(Coordinate("hinge")))
    ...     store = Many(f"{folder}/models")
    ...     print(list(store), store["bob"].loss.name)
    ['ann', 'bob'] hinge
    """

    def __init__(self, path: Pathlike) -> None:
        self._writing = replacing(path)
        self._places: dict[bytes, tuple[int, int]] = {}
        self._size = 0

    def __enter__(self) -> Self:
        self._file: BinaryIO = self._writing.__enter__()
        self._file.write(b" " * ROOM)
        return self

    def add(self, name: str, model: bytes) -> None:
        """Add a model, as `as_bytes` makes it."""
        key = name.encode("utf-8", "surrogatepass")
        if key in self._places:
            raise ValueError(f"there is a model {name!r} already")
        self._places[key] = self._size, self._size + len(model)
        self._file.write(model)
        self._size += len(model)

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            self._write_index()
        self._writing.__exit__(*error)

    def _write_index(self) -> None:
        names = sorted(self._places)
        spans = np.array([self._places[name] for name in names], dtype=np.int64).reshape(-1, 2)
        index: dict[str, NDArray[Any]] = {
            "names": np.frombuffer(b"".join(names), dtype=np.uint8),
            "name_ends": np.cumsum([len(name) for name in names], dtype=np.int64),
            "starts": spans[:, 0].copy(),
            "ends": spans[:, 1].copy(),
        }
        entries: dict[str, Any] = {"__metadata__": {NAME: json.dumps([FORMAT, _digest(index)])}}
        entries["models"] = _entry("U8", self._size, 0, self._size)
        at = self._size
        for name, part in index.items():
            self._file.write(part.data)
            dtype = "U8" if part.dtype == np.uint8 else "I64"
            entries[name] = _entry(dtype, len(part), at, at + part.nbytes)
            at += part.nbytes
        self._file.seek(0)
        self._file.write((ROOM - 8).to_bytes(8, "little"))
        self._file.write(json.dumps(entries).encode().ljust(ROOM - 8))


def _entry(dtype: str, size: int, start: int, stop: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [size], "data_offsets": [start, stop]}


def _digest(index: Mapping[str, NDArray[Any]]) -> str:
    made = blake2b(digest_size=16)
    for name in INDEX:
        made.update(index[name].data)
    return made.hexdigest()


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
            file = safe_open(path, "numpy").__enter__()
            number, digest = json.loads(file.metadata()[NAME])
            self._models = file.get_slice("models")
            index = {name: file.get_tensor(name) for name in INDEX}
        except (SafetensorError, KeyError, TypeError, ValueError):
            raise ModelFileError(
                path, "it is not a file of many models, or it is damaged"
            ) from None
        if number != FORMAT:
            raise ModelFileError(path, f"its format {number!r} is not known: update unitless")
        if _digest(index) != digest:
            raise ModelFileError(path, "it is damaged: its index is not what was written")
        self._names, self._name_ends, self._starts, self._ends = index.values()

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
        data = self._models[int(self._starts[k]) : int(self._ends[k])]
        return from_bytes(f"{self.path}, model {name!r}", data.tobytes())
