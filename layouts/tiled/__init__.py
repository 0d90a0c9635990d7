# SPDX-License-Identifier: Apache-2.0
"""Instructions and copies tiled over threads and values: who holds what of a tile."""

from layouts.tiled.atom import CopyAtom as CopyAtom
from layouts.tiled.atom import MmaAtom as MmaAtom
from layouts.tiled.tiled_mma import ThrMMA as ThrMMA
from layouts.tiled.tiled_mma import TiledMMA as TiledMMA
