# SPDX-License-Identifier: Apache-2.0
"""TOML files that users write: their tables as plain data, the position of each key, all errors at once.

`document` reads a file, `places` finds its keys, `tables` reads its tables one by one, `entry` a table's keys by their
types, layouts among them. No kind of subject is known here: `layouts.atoms` reads its own files with it, and so do the
kinds of `verify`.
"""

from layouts.toml.errors import AtomFileError, Spot, combine_errors

__all__ = ["AtomFileError", "Spot", "combine_errors"]
