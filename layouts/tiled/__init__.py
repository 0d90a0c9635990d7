# SPDX-License-Identifier: Apache-2.0
"""TiledMMA and TiledCopy: atoms repeated over threads and values, and the elements of a tile in each thread."""

from layouts.tiled.atom import CopyAtom as CopyAtom
from layouts.tiled.atom import MmaAtom as MmaAtom
from layouts.tiled.derivation import Step as Step
from layouts.tiled.derivation import derive as derive
from layouts.tiled.tiled_copy import ThrCopy as ThrCopy
from layouts.tiled.tiled_copy import TiledCopy as TiledCopy
from layouts.tiled.tiled_copy import make_tiled_copy as make_tiled_copy
from layouts.tiled.tiled_copy import make_tiled_copy_A as make_tiled_copy_A
from layouts.tiled.tiled_copy import make_tiled_copy_B as make_tiled_copy_B
from layouts.tiled.tiled_copy import make_tiled_copy_C as make_tiled_copy_C
from layouts.tiled.tiled_mma import ThrMMA as ThrMMA
from layouts.tiled.tiled_mma import TiledMMA as TiledMMA
