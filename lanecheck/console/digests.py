# SPDX-License-Identifier: Apache-2.0
"""The digests that name and seal the entries of a cache.

An entry has the digest of all that it depends on as its name (`name_of`), and begins with the digest of its name and
content (`seal`): one that is torn, edited or of another name is none (`unseal`), and is made anew.
"""

from __future__ import annotations

from hashlib import blake2b


def name_of(*parts: str | bytes) -> str:
    """Return the name of an entry that depends on these texts and nothing else.

    >>> name_of("ab", "c") == name_of("a", "bc")
    False
    """
    whole = blake2b(digest_size=32)
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        whole.update(len(content).to_bytes(8, "little") + content)
    return whole.hexdigest()


def seal(name: str, content: bytes) -> bytes:
    """Return an entry: a line with the digest of its name and content, then the content."""
    return name_of(name, content).encode() + b"\n" + content


def unseal(name: str, entry: bytes) -> bytes | None:
    """Return the content of an entry; None where it is not what was sealed by that name.

    >>> entry = seal("one", b"content")
    >>> unseal("one", entry), unseal("other", entry), unseal("one", entry[:-1])
    (b'content', None, None)
    """
    content = entry.partition(b"\n")[2]
    return content if seal(name, content) == entry else None
