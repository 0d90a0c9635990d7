# SPDX-License-Identifier: Apache-2.0
"""`sha256`, `blake2b` and `shake_128` as `hashlib` has them, by Python's own code, as the module `random` takes them.

OpenSSL, which `hashlib` loads, takes longer to load than all that a command digests.
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

__all__ = ["blake2b", "sha256", "shake_128"]
