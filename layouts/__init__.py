# SPDX-License-Identifier: Apache-2.0
"""The layout algebra of CuTe, with every operation held to its definition.

A layout ``shape:stride`` maps coordinates to integers. An operation whose result would break its own defining
equation raises LayoutError with the precondition that failed and the numbers.

>>> from layouts import Layout
>>> L = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
>>> L(5, 3)
57
"""

# One block per module, sorted by module.
from layouts.arithmetic import ceil_div as ceil_div
from layouts.arithmetic import evenly_divides as evenly_divides
from layouts.arithmetic import round_up as round_up
from layouts.arithmetic import shape_div as shape_div
from layouts.coalesce import coalesce as coalesce
from layouts.coalesce import filter as filter
from layouts.coalesce import filter_zeros as filter_zeros
from layouts.coalesce import same_function as same_function
from layouts.common import domain_distribute as domain_distribute
from layouts.common import max_alignment as max_alignment
from layouts.common import max_common_layout as max_common_layout
from layouts.common import max_common_vector as max_common_vector
from layouts.common import nullspace as nullspace
from layouts.complement import complement as complement
from layouts.compose import Tiler as Tiler
from layouts.compose import admissible as admissible
from layouts.composed import ComposedLayout as ComposedLayout
from layouts.composed import composition as composition
from layouts.coords import crd2crd as crd2crd
from layouts.coords import crd2idx as crd2idx
from layouts.coords import idx2crd as idx2crd
from layouts.divide import flat_divide as flat_divide
from layouts.divide import logical_divide as logical_divide
from layouts.divide import tiled_divide as tiled_divide
from layouts.divide import zipped_divide as zipped_divide
from layouts.errors import LayoutError as LayoutError
from layouts.errors import LayoutParseError as LayoutParseError
from layouts.errors import ProfileError as ProfileError
from layouts.int_tuple import IntTuple as IntTuple
from layouts.int_tuple import compatible as compatible
from layouts.int_tuple import congruent as congruent
from layouts.int_tuple import depth as depth
from layouts.int_tuple import leaves as leaves
from layouts.int_tuple import product as product
from layouts.int_tuple import rank as rank
from layouts.int_tuple import shape as shape
from layouts.int_tuple import size as size
from layouts.int_tuple import weakly_congruent as weakly_congruent
from layouts.inverse import left_inverse as left_inverse
from layouts.inverse import right_inverse as right_inverse
from layouts.layout import Layout as Layout
from layouts.layout import cosize as cosize
from layouts.layout import dice as dice
from layouts.layout import domain_offset as domain_offset
from layouts.layout import make_layout as make_layout
from layouts.layout import parse_layout as parse_layout
from layouts.layout import slice as slice
from layouts.layout import slice_and_offset as slice_and_offset
from layouts.linear import F2Matrix as F2Matrix
from layouts.linear import f2_layout as f2_layout
from layouts.linear import f2_matrix as f2_matrix
from layouts.modes import append as append
from layouts.modes import flatten as flatten
from layouts.modes import group as group
from layouts.modes import make_layout_like as make_layout_like
from layouts.modes import make_ordered_layout as make_ordered_layout
from layouts.modes import prepend as prepend
from layouts.modes import replace as replace
from layouts.modes import select as select
from layouts.modes import take as take
from layouts.modes import unflatten as unflatten
from layouts.order import compact_col_major as compact_col_major
from layouts.order import compact_order as compact_order
from layouts.order import compact_row_major as compact_row_major
from layouts.products import blocked_product as blocked_product
from layouts.products import flat_product as flat_product
from layouts.products import logical_product as logical_product
from layouts.products import raked_product as raked_product
from layouts.products import tile_to_shape as tile_to_shape
from layouts.products import tiled_product as tiled_product
from layouts.products import zipped_product as zipped_product
from layouts.recast import downcast as downcast
from layouts.recast import recast as recast
from layouts.recast import upcast as upcast
from layouts.swizzle import Swizzle as Swizzle
from layouts.swizzle import make_swizzle as make_swizzle
from layouts.text import format_int_tuple as format_int_tuple
from layouts.text import parse_int_tuple as parse_int_tuple
