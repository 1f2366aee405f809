"""Archives: many models in one file, which are loaded one by one.

An archive is a safetensors file of bytes: `models` holds whole model files (docs/model-format.md),
each with a digest of its own; an index, sorted by name, says where each one is. It is written model
by model and replaced as a whole; opening it checks the index, reading a model reads the bytes of
that model, so that a file may hold millions.
"""

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unitless.persistence.container import ModelFileError, flush_folder
from unitless.persistence.saving import from_bytes

NAME, FORMAT = "unitless.many", 1
ROOM = 4096
"""Bytes kept for the header, which is known last; safetensors allows trailing blanks."""
PARTS = {"models": "U8", "names": "U8", "name_ends": "I64", "starts": "I64", "ends": "I64"}
Pathlike = str | os.PathLike[str]


class ManyWriter:
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
        self.path = Path(os.path.realpath(path))
        self._beside = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.tmp")
        self._places: dict[bytes, tuple[int, int]] = {}
        self._size = 0

    def __enter__(self) -> Self:
        self._file = open(self._beside, "xb")
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

    def __exit__(self, kind: Any, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._file.close()
            with suppress(OSError):
                self._beside.unlink()

    def _finish(self) -> None:
        """Write the index and the header, and give the file its name."""
        parts = _index(self._places)
        shapes = {"models": self._size, **{name: len(part) for name, part in parts.items()}}
        for part in parts.values():
            self._file.write(part.data)
        self._file.seek(0)
        self._file.write(_header(shapes, _digest(parts)))
        self._file.flush()
        os.fsync(self._file.fileno())
        os.replace(self._beside, self.path)
        flush_folder(self.path.parent)


def _index(places: Mapping[bytes, tuple[int, int]]) -> dict[str, NDArray[Any]]:
    """Names and places, sorted by name."""
    names = sorted(places)
    spans = np.array([places[name] for name in names], dtype=np.int64).reshape(-1, 2)
    return {
        "names": np.frombuffer(b"".join(names), dtype=np.uint8),
        "name_ends": np.cumsum([len(name) for name in names], dtype=np.int64),
        "starts": spans[:, 0].copy(),
        "ends": spans[:, 1].copy(),
    }


def _digest(parts: Mapping[str, NDArray[Any]]) -> str:
    made = blake2b(digest_size=16)
    for part in parts.values():
        made.update(np.ascontiguousarray(part).data)
    return made.hexdigest()


def _header(shapes: dict[str, int], digest: str) -> bytes:
    entries: dict[str, Any] = {"__metadata__": {NAME: json.dumps([FORMAT, digest])}}
    at = 0
    for name, dtype in PARTS.items():
        end = at + shapes[name] * (8 if dtype == "I64" else 1)
        entries[name] = {"dtype": dtype, "shape": [shapes[name]], "data_offsets": [at, end]}
        at = end
    text = json.dumps(entries).encode()
    return (ROOM - 8).to_bytes(8, "little") + text.ljust(ROOM - 8)


class Many(Mapping[str, Any]):
    """The models of a file by name; each is loaded when it is accessed.

    Raises
    ------
    ModelFileError
        If the file is not a whole one of many models. Nothing in it is ever executed.
    """

    def __init__(self, path: Pathlike) -> None:
        self.path = os.fspath(path)
        self._map: NDArray[Any] = np.zeros(0, dtype=np.uint8)
        if os.path.getsize(path):
            self._map = np.memmap(path, dtype=np.uint8, mode="r")
        try:
            spans, digest = _opened(bytes(self._map[:ROOM]), len(self._map))
            parts = {name: self._part(name, *span) for name, span in spans.items()}
        except (KeyError, TypeError, ValueError):
            raise ModelFileError(
                path, "it is not a file of many models, or it is damaged"
            ) from None
        self._models = parts.pop("models")
        if _digest(parts) != digest:
            raise ModelFileError(path, "it is damaged: its index is not what was written")
        self._names, self._name_ends, self._starts, self._ends = parts.values()
        if not len(self._name_ends) == len(self._starts) == len(self._ends):
            raise ModelFileError(path, "it is damaged: its index does not fit together")

    def _part(self, name: str, start: int, end: int) -> NDArray[Any]:
        return self._map[start:end].view(np.int64 if PARTS[name] == "I64" else np.uint8)

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[str]:
        return (self._name(k).decode("utf-8", "surrogatepass") for k in range(len(self)))

    def _name(self, k: int) -> bytes:
        start = self._name_ends[k - 1] if k else 0
        return bytes(self._names[start : self._name_ends[k]])

    def __getitem__(self, name: str) -> Any:
        key, low, high = name.encode("utf-8", "surrogatepass"), 0, len(self)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self._name(middle) < key else (low, middle)
        if low == len(self) or self._name(low) != key:
            raise KeyError(name)
        data = self._models[self._starts[low] : self._ends[low]]
        return from_bytes(f"{self.path}, model {name!r}", bytes(data))


def _opened(head: bytes, size: int) -> tuple[dict[str, tuple[int, int]], str]:
    """Where the parts are in the file, and the digest of the index."""
    if len(head) < ROOM or int.from_bytes(head[:8], "little") != ROOM - 8:
        raise ValueError("the header is missing")
    entries = json.loads(head[8:])
    number, digest = json.loads(entries["__metadata__"][NAME])
    if number != FORMAT:
        raise ValueError(f"format {number} is not known: update unitless")
    spans, at = {}, 0
    for name in PARTS:
        start, end = map(int, entries[name]["data_offsets"])
        if start != at or not start <= end <= size - ROOM:
            raise ValueError("the parts do not follow each other")
        spans[name], at = (ROOM + start, ROOM + end), end
    return spans, str(digest)
