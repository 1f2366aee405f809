"""The file format of models: arrays and a JSON header in a safetensors file.

`replace` writes the new file beside the old one, flushes it to the disk and renames it. `read`
trusts nothing: lengths are compared with that of the file before memory is allocated, and a digest
of the contents shows every change.
"""

import json
import os
import secrets
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

Arrays = dict[str, NDArray[Any]]
DTYPES = {"F64": np.float64, "I64": np.int64, "I32": np.int32}
"""The types of arrays in a model file, by their names in safetensors."""
NAME, DIGITS = "unitless", 32
"""Key of our text in the metadata of safetensors, and length of the digest before it."""
ALIGNED = 64
"""Arrays are aligned to this number of bytes in memory, for speed."""


class ModelFileError(ValueError):
    """A file is not a complete model; the message says what is wrong.

    >>> print(ModelFileError("model.unitless", "it has 3 bytes, and a model has more"))
    model.unitless: it has 3 bytes, and a model has more
    """

    def __init__(self, path: str | os.PathLike[str], why: str) -> None:
        super().__init__(f"{os.fspath(path)}: {why}")
        self.path, self.why = os.fspath(path), why

    def __reduce__(self) -> tuple[Any, ...]:
        return ModelFileError, (self.path, self.why)


def packed(header: dict[str, Any], arrays: Arrays) -> bytes:
    """The contents of a file with this header and these arrays."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    digest = _digest(text, [(name, _dtype(a), list(a.shape), a.data) for name, a in plain.items()])
    return save(plain, {NAME: f"{digest} {text}"})


def replace(path: str | os.PathLike[str], data: bytes) -> None:
    """Make the file hold these bytes: at every moment it holds the old ones or the new ones.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace(f"{folder}/a", b"old")
    ...     replace(f"{folder}/a", b"new")
    ...     print(Path(folder, "a").read_bytes(), os.listdir(folder))
    b'new' ['a']
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with suppress(FileNotFoundError):  # a file made read-only is meant to stay
            open(target, "r+b").close()
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):  # a full disk or a folder without permission: name the file
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise
    flush_folder(target.parent)


def flush_folder(folder: Path) -> None:
    """Make the new name survive a power failure, on systems that support it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a file, as `packed` made them."""
    return unpacked(path, Path(path).read_bytes())


def unpacked(path: str | os.PathLike[str], data: bytes) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays that were `packed`; errors name the path."""
    text, digest = _texts(path, data)
    try:
        tensors = [(name, t["dtype"], list(t["shape"]), t["data"]) for name, t in deserialize(data)]
    except (SafetensorError, OverflowError, MemoryError, ValueError) as error:
        raise ModelFileError(path, f"it is damaged ({error})") from None
    if _digest(text, tensors) != digest:
        raise ModelFileError(path, "it is damaged: its contents are not what was written")
    header = _parsed(path, text)
    if not isinstance(header, dict):
        raise ModelFileError(path, "its header is not a JSON object")
    return header, {name: _array(path, name, *rest) for name, *rest in tensors}


def _texts(path: str | os.PathLike[str], data: bytes) -> tuple[str, str]:
    """Our text and its digest, from a safetensors file's header."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 10 or length > len(data) - 8:
        raise ModelFileError(path, "it is not a model file, or its end is missing")
    metadata = _parsed(path, data[8 : 8 + length])
    metadata = metadata.get("__metadata__") if isinstance(metadata, dict) else None
    if isinstance(metadata, dict) and f"{NAME}.many" in metadata:
        raise ModelFileError(path, "it holds many models: open it with unitless.persistence.Many")
    text = metadata.get(NAME) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise ModelFileError(path, "it is a safetensors file, and not one of a Unitless model")
    return text[DIGITS + 1 :], text[:DIGITS]


def _parsed(path: str | os.PathLike[str], text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ModelFileError(
            path, "it is not a model file, or it is damaged: it has no JSON header"
        ) from None


def _digest(text: str, tensors: list[tuple[str, str, list[int], Any]]) -> str:
    """The digest of the text and of every array: name, type, shape and bytes."""
    made = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGITS // 2)
    for name, dtype, shape, data in sorted(tensors, key=lambda tensor: tensor[0]):
        made.update(json.dumps([name, dtype, shape]).encode())
        made.update(data)
    return made.hexdigest()


def _dtype(array: NDArray[Any]) -> str:
    for name, dtype in DTYPES.items():
        if array.dtype == dtype:
            return name
    raise TypeError(f"an array of {array.dtype} cannot be stored in a model file")


def _array(
    path: str | os.PathLike[str], name: str, dtype: str, shape: list[int], data: Any
) -> NDArray[Any]:
    """A copy of the array in aligned memory."""
    if dtype not in DTYPES:
        raise ModelFileError(path, f"array {name!r} is of type {dtype}, which no model has")
    kind = np.dtype(DTYPES[dtype])
    room = np.empty(len(data) + ALIGNED, dtype=np.uint8)
    skip = -room.ctypes.data % ALIGNED
    array = room[skip : skip + len(data)]
    array[:] = np.frombuffer(data, dtype=np.uint8)
    return array.view(kind).reshape(shape)
