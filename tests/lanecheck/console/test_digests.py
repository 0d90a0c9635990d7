# SPDX-License-Identifier: Apache-2.0
"""Digests without OpenSSL: those of hashlib, also where Python has only that."""

from __future__ import annotations

import hashlib
import subprocess
import sys

from lanecheck.console.digests import blake2b, sha256, shake_128

TEXTS = [b"", b"lanecheck", bytes(range(256)) * 33]
LACKING = """
import sys
sys.modules.update(dict.fromkeys({names}))
from lanecheck.console import digests
print(digests.sha256(b"lanecheck").hexdigest(), "_hashlib" in sys.modules)
"""


def test_they_are_those_of_hashlib() -> None:
    for text in TEXTS:
        assert sha256(text).digest() == hashlib.sha256(text).digest()
        assert blake2b(text, digest_size=8).digest() == hashlib.blake2b(text, digest_size=8).digest()
        assert shake_128(text).digest(1000) == hashlib.shake_128(text).digest(1000)


def run(*names: str) -> list[str]:
    command = [sys.executable, "-c", LACKING.format(names=list(names))]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_openssl_is_loaded_only_where_python_lacks_its_own() -> None:
    expected = hashlib.sha256(b"lanecheck").hexdigest()
    assert run() == [expected, "False"]
    assert run("_sha3") == run("_sha2", "_sha256") == [expected, "True"]
