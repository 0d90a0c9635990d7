# SPDX-License-Identifier: Apache-2.0
"""`sha256`, `blake2b` and `shake_128` as `hashlib` has them, by Python's own code, as the module `random` takes them.

OpenSSL, which `hashlib` loads, takes longer to load than all that a command digests.

An entry of a cache has the digest of all that it depends on as its name (`name_of`), and begins with the digest of its
name and content (`sealed`): one that is torn, edited or of another name is none (`unsealed`), and is made anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b, sha256, shake_128
else:
    try:
        from _blake2 import blake2b
        from _sha3 import shake_128

        try:
            from _sha2 import sha256  # since Python 3.12
        except ImportError:
            from _sha256 import sha256
    except ImportError:  # a Python that was built without them
        from hashlib import blake2b, sha256, shake_128

__all__ = ["blake2b", "name_of", "sealed", "sha256", "shake_128", "unsealed"]


def name_of(*parts: str | bytes) -> str:
    """The name of an entry that depends on these texts and nothing else.

    >>> name_of("ab", "c") == name_of("a", "bc")
    False
    """
    whole = blake2b(digest_size=32)
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        whole.update(len(content).to_bytes(8, "little") + content)
    return whole.hexdigest()


def sealed(name: str, content: bytes) -> bytes:
    """An entry: a line with the digest of its name and content, then the content."""
    return name_of(name, content).encode() + b"\n" + content


def unsealed(name: str, found: bytes) -> bytes | None:
    """The content of an entry; None where it is not what was sealed by that name.

    >>> entry = sealed("one", b"content")
    >>> unsealed("one", entry), unsealed("other", entry), unsealed("one", entry[:-1])
    (b'content', None, None)
    """
    content = found.partition(b"\n")[2]
    return content if sealed(name, content) == found else None
