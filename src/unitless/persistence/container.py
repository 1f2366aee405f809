"""The file format of models: arrays and a JSON header in a compressed safetensors file.

Nothing in a file is trusted: a file that claims to be far larger than it is when it is unpacked is
refused, safetensors compares lengths with that of the contents before memory is allocated, and a
digest of the contents shows every change.
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
import zstandard
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from unitless import __version__

Arrays = dict[str, NDArray[Any]]
Pathlike = str | os.PathLike[str]
FORMAT = 1
"""Number of the format; files with a higher number need a newer package."""
TYPES = {
    np.dtype("float64"): "F64",
    np.dtype("float32"): "F32",
    np.dtype("int64"): "I64",
    np.dtype("int32"): "I32",
    np.dtype("int16"): "I16",
    np.dtype("int8"): "I8",
    np.dtype("uint64"): "U64",
    np.dtype("uint32"): "U32",
    np.dtype("uint16"): "U16",
    np.dtype("uint8"): "U8",
}
"""The types of arrays in a model file, and their names in safetensors."""
SQLITE = b"SQLite format 3\0"
"""The first bytes of an archive of many models."""
NAME = "unitless"
"""Key of our text in the metadata of safetensors: a digest, a blank and the header."""
LEVEL = 3
"""The level of compression: a larger one takes longer and saves little."""
MOST_TIMES = 1000
"""The contents of a file may be at most this many times larger than the file."""
DAMAGE = (
    SafetensorError,
    zstandard.ZstdError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""The errors in which reading a file that is not a model may end."""


class ModelFileError(ValueError):
    """A file is not a complete model; the message says what is wrong."""

    def __init__(self, path: Pathlike, why: str) -> None:
        super().__init__(f"{os.fspath(path)}: {why}")
        self.path, self.why = os.fspath(path), why

    def __reduce__(self) -> tuple[object, ...]:
        return ModelFileError, (self.path, self.why)


def packed(header: dict[str, object], arrays: Arrays) -> bytes:
    """The contents of a file with this header and these arrays."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    plain = {name: np.array(array, order="C", copy=None) for name, array in arrays.items()}
    contents = save(plain, {NAME: f"{_digest(text, plain)} {text}"})
    return zstandard.ZstdCompressor(level=LEVEL).compress(contents)


def unpacked(path: Pathlike, data: bytes) -> tuple[dict[str, object], Arrays]:
    """The header and the arrays that were `packed`; errors name the path."""
    if data.startswith(SQLITE):
        raise ModelFileError(path, "it holds many models: open it with unitless.persistence.Many")
    try:
        data = decompressed(data)
        arrays = load(data)
        length = int.from_bytes(data[:8], "little")
        metadata = json.loads(data[8 : 8 + length]).get("__metadata__") or {}
    except DAMAGE as error:
        raise ModelFileError(path, f"it is not a model file, or it is damaged ({error})") from None
    if NAME not in metadata:
        raise ModelFileError(path, "it is a safetensors file, and not one of a Unitless model")
    digest, _, text = metadata[NAME].partition(" ")
    try:
        is_whole = _digest(text, arrays) == digest
        header = json.loads(text)
        number = header["format"]
    except DAMAGE as error:
        raise ModelFileError(path, f"its header is damaged ({error!r})") from None
    if not is_whole:
        raise ModelFileError(path, "it is damaged: its contents are not what was written")
    require_format(path, number)
    return header, {name: array.copy() for name, array in arrays.items()}


def require_format(path: Pathlike, number: object) -> None:
    """Refuse a file of a format that this version of the package does not read."""
    if not isinstance(number, int) or number < 1:
        raise ModelFileError(path, f"its format {number!r} is not a number")
    if number > FORMAT:
        raise ModelFileError(
            path,
            f"it has format {number}, and this version of the package ({__version__}) reads up to "
            f"{FORMAT}: update unitless",
        )


def decompressed(data: bytes) -> bytes:
    """The contents of a file; a few bytes that claim to be very many are refused.

    A safetensors file that is not compressed is its contents.
    """
    if not data.startswith(zstandard.FRAME_HEADER):
        return data
    size = zstandard.frame_content_size(data)
    if not 0 <= size <= MOST_TIMES * len(data):
        raise ValueError(f"{len(data)} bytes that claim to be {size}")
    return zstandard.ZstdDecompressor().decompress(
        data, max_output_size=size, allow_extra_data=False
    )


def read(path: Pathlike) -> tuple[dict[str, object], Arrays]:
    """The header and the arrays of a file."""
    return unpacked(path, Path(path).read_bytes())


def _digest(text: str, arrays: Arrays) -> str:
    """The digest of the text and of every array: name, type, shape and bytes."""
    made = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
    for name, array in sorted(arrays.items()):
        if array.dtype not in TYPES:
            raise TypeError(f"{name!r}: an array of {array.dtype} cannot be in a model file")
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
