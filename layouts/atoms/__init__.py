# SPDX-License-Identifier: Apache-2.0
"""Atoms: the (thread, value) layouts that CuTe gives to matrix and copy instructions, as data.

This folder has one TOML file per architecture; a user's file has the same form. Files are parsed, never executed. An
atom is a claim: `load` checks its form, `python -m verify.atom` checks whether it is right.

>>> atom = registry()["SM80_16x8x16_F32F16F16F32_TN"]
>>> atom.shape, atom.operands["B"]
((16, 8, 16), '((4,8),(2,2)):((16,1),(8,64))')
"""

from layouts.atoms.atom import Adapter as Adapter
from layouts.atoms.atom import Atom as Atom
from layouts.atoms.atom import CopyAtom as CopyAtom
from layouts.atoms.atom import IncompleteAtom as IncompleteAtom
from layouts.atoms.entry import Family as Family
from layouts.atoms.errors import AtomFileError as AtomFileError
from layouts.atoms.reading import AnyAtom as AnyAtom
from layouts.atoms.reading import load as load
from layouts.atoms.shelf import registry as registry
