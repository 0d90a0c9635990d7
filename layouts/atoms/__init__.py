# SPDX-License-Identifier: Apache-2.0
"""Atoms: the (thread, value) layouts that CuTe gives to matrix and copy instructions, as data.

This folder has one TOML file per architecture; a user's file has the same form. Files are parsed, never executed. An
atom is a claim: `load` checks its form, `lanecheck atom` checks whether it is right.

>>> atom = registry()["SM80_16x8x16_F32F16F16F32_TN"]
>>> atom.shape, atom.operands["B"]
((16, 8, 16), '((4,8),(2,2)):((16,1),(8,64))')
"""

from layouts.atoms.atom import Adapter, Atom, CopyAtom, IncompleteAtom
from layouts.atoms.reading import AnyAtom, load
from layouts.atoms.shelf import registry
from layouts.toml.entry import Family
from layouts.toml.errors import AtomFileError

__all__ = [
    "Adapter",
    "AnyAtom",
    "Atom",
    "AtomFileError",
    "CopyAtom",
    "Family",
    "IncompleteAtom",
    "load",
    "registry",
]
