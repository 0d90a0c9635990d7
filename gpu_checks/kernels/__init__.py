# SPDX-License-Identifier: Apache-2.0
"""The CUDA text of every probe, from the mnemonic and the signature of an instruction alone.

Each module fills the named parts of the `.cu` file beside it (`templates`). Recordings keep the SHA-256 of the text
that made them: a text that changes by one byte makes them stale.
"""

__all__: list[str] = []
