"""The file format of models: arrays and a JSON header in a safetensors file.

Nothing in a file is trusted: safetensors compares lengths with that of the file before memory is
allocated, and a digest of the contents shows every change.
"""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from unitless import __version__

Arrays = dict[str, NDArray[Any]]
Pathlike = str | os.PathLike[str]
FORMAT = 1
"""Number of the format; files with a higher number need a newer package."""
TYPES = {
    np.dtype(np.float64): "F64",
    np.dtype(np.int64): "I64",
    np.dtype(np.int32): "I32",
}
"""The types of arrays in a model file, and their names in safetensors."""
NAME, DIGITS = "unitless", 32
"""Key of our text in the metadata of safetensors, and length of the digest before it."""


class ModelFileError(ValueError):
    """A file is not a complete model; the message says what is wrong."""

    def __init__(self, path: Pathlike, why: str) -> None:
        super().__init__(f"{os.fspath(path)}: {why}")
        self.path, self.why = os.fspath(path), why

    def __reduce__(self) -> tuple[Any, ...]:
        return ModelFileError, (self.path, self.why)


def packed(header: dict[str, Any], arrays: Arrays) -> bytes:
    """The contents of a file with this header and these arrays."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype not in TYPES:
            raise TypeError(f"{name!r}: an array of {array.dtype} cannot be in a model file")
    return save(plain, {NAME: f"{_digest(text, plain)} {text}"})


def unpacked(path: Pathlike, data: bytes) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays that were `packed`; errors name the path."""
    text, digest = _texts(path, data)
    try:
        arrays = load(data)
    except (
        SafetensorError,
        LookupError,
        OverflowError,
        MemoryError,
        ValueError,
    ) as error:
        raise ModelFileError(path, f"it is damaged ({error})") from None
    for name, array in arrays.items():
        if array.dtype not in TYPES:
            raise ModelFileError(path, f"array {name!r} is of {array.dtype}, which no model has")
    if _digest(text, arrays) != digest:
        raise ModelFileError(path, "it is damaged: its contents are not what was written")
    header = _parsed(path, text)
    number = header.get("format") if isinstance(header, dict) else None
    if not isinstance(number, int) or number < 1:
        raise ModelFileError(path, "its header has no format number")
    if number > FORMAT:
        raise ModelFileError(
            path,
            f"it has format {number}, and this version of the package ({__version__}) reads up to "
            f"{FORMAT}: update unitless",
        )
    return header, {name: array.copy() for name, array in arrays.items()}


def read(path: Pathlike) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a file."""
    return unpacked(path, Path(path).read_bytes())


def _texts(path: Pathlike, data: bytes) -> tuple[str, str]:
    """Our text and its digest, from the metadata of a safetensors file."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 10 or length > len(data) - 8:
        raise ModelFileError(path, "it is not a model file, or its end is missing")
    entries = _parsed(path, data[8 : 8 + length])
    metadata = entries.get("__metadata__") if isinstance(entries, dict) else None
    if not isinstance(metadata, dict):
        metadata = {}
    if f"{NAME}.many" in metadata:
        raise ModelFileError(path, "it holds many models: open it with unitless.persistence.Many")
    text = metadata.get(NAME)
    if not isinstance(text, str):
        raise ModelFileError(path, "it is a safetensors file, and not one of a Unitless model")
    return text[DIGITS + 1 :], text[:DIGITS]


def _parsed(path: Pathlike, text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ModelFileError(
            path, "it is not a model file, or it is damaged: it has no JSON header"
        ) from None


def _digest(text: str, arrays: Arrays) -> str:
    """The digest of the text and of every array: name, type, shape and bytes."""
    made = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGITS // 2)
    for name, array in sorted(arrays.items()):
        made.update(json.dumps([name, TYPES[array.dtype], list(array.shape)]).encode())
        made.update(array.data)
    return made.hexdigest()


# Writing


def replace(path: Pathlike, data: bytes) -> None:
    """Make the file hold these bytes: at every moment it holds the old ones or the new ones."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Pathlike) -> Iterator[BinaryIO]:
    """A file to write beside the old one, whose place it takes unless there is an error."""
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with suppress(FileNotFoundError):  # a file made read-only is meant to stay
            open(target, "r+b").close()
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except OSError as error:
        # A full disk, or no permission: name the file. An error without a number is the caller's.
        if error.errno is not None and error.filename in (None, str(beside)):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise
    finally:
        with suppress(OSError):
            beside.unlink()
    with suppress(OSError):  # the new name survives a power failure, where systems support it
        handle = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
