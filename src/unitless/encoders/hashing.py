"""Hash levels to buckets: the same on every machine, in every process, in every version.

A level that is a string is hashed as its UTF-8, any other key as its JSON: BLAKE2b with a digest
of 8 bytes, read as a little-endian integer, of which the lowest bits are the bucket. Python's
`hash` differs between processes.
"""

import json
from hashlib import blake2b

from unitless.encoders.namespaces import Key


def bucket_of(key: Key, bits: int) -> int:
    """The bucket of a level, between 0 and 2**bits - 1.

    >>> [bucket_of(level, 18) for level in ("red", "green", "blue")]
    [256269, 192076, 228754]
    """
    text = key if isinstance(key, str) else json.dumps(key)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") & ((1 << bits) - 1)
