# SPDX-License-Identifier: Apache-2.0
"""The layout algebra of CuTe; each operation has its defining equation, and a law that proves it.

Definition
----------
A layout `shape:stride` is a function from coordinates to integers. Shape and stride are integers or nested tuples of
the same nesting; each pair of integers is a *mode* s:d, with the coordinates 0 <= c < s and the value c*d. The value
at a coordinate is the sum over all modes:

    (s_0, s_1, ...):(d_0, d_1, ...)    L(c_0, c_1, ...) = c_0*d_0 + c_1*d_1 + ...

An index counts the coordinates, the leftmost running fastest: index i has the digits i % s_0, (i // s_0) % s_1, ...
So a layout is also a function of one index, of one coordinate per mode, or of nested coordinates: all the same value.

A worked example
----------------
A 2 x 4 tile, its rows 4 apart and its columns 1 apart, is 8 numbers in the order of rows:

>>> from layouts import Layout, LayoutError, composition
>>> L = Layout.parse("(2,4):(4,1)")
>>> L(1, 2), L(5)                        # index 5 = 1 + 2*2 is the coordinate (1, 2)
(6, 6)
>>> [L(i) for i in range(8)]
[0, 4, 1, 5, 2, 6, 3, 7]

(thread, value) layouts are layouts of two modes. Where thread 5 of an m16n8 accumulator keeps its value 3:

>>> Layout.parse("((4,8),(2,2)):((32,1),(16,8))")(5, 3)     # 57 = 9 + 16*3: row 9, column 3
57

Operations return a layout wherever one with the defined function exists. Where there is none,
:class:`LayoutError` names the precondition that fails, with the numbers; no operation rounds:

>>> print(composition(Layout.parse("(6,2):(8,2)"), Layout.parse("(4,3):(3,1)")))
((2,2),3):((24,2),8)
>>> try:
...     composition(Layout.parse("(6,2):(8,2)"), Layout.parse("4:2"))
... except LayoutError as error:
...     print(str(error).partition("4:2: ")[2])
the mode 4:2 of B carries out of a mode of A after 3 steps, and 3 does not divide 4

The operations
--------------
The functions have CuTe's names. `python -m verify.laws NAME` proves a law, for every extent, stride and rank.

    CuTe                       here                 defining equation                                law
    coalesce                   coalesce             R(i) = L(i), the fewest modes                    COALESCE
    composition                composition          R(c) = A(B(c)), compatible(B, R)                 NOCARRY
    complement                 complement           (A, R) is injective and covers [0, n)            COMPLEMENT_COVERS
    right_inverse              right_inverse        L(R(k)) = k                                      RIGHT_INVERSE
    left_inverse               left_inverse         R(L(k)) = k                                      LEFT_INVERSE
    logical_divide             logical_divide       R(t, r) = A(T(t) + T*(r))                        DIVIDE_EXISTS
    zipped_, tiled_,           zipped_divide, ...   the same, its modes grouped by tile and rest     DIVIDE_UNIQUE
      flat_divide
    logical_product            logical_product      R(i, j) = A(i) + A*(T(j))                        PRODUCT_INJECTIVE
    blocked_, raked_product    blocked_product ...  copies side by side, copies interleaved          PRODUCT_ANY
    tile_to_shape              tile_to_shape        blocked copies that fill a shape                 PRODUCT_ANY
    make_layout, append        make_layout, append  the layouts as modes                             CONCAT
    nested coordinates         Layout.__call__      one value for index and coordinates              NESTING
    by-mode composition        composition(A, (..)) each mode by its own tiler                       BYMODE
    max_common_layout          max_common_layout    the longest prefix on which A and B agree        (none)
    upcast, downcast, recast   the same names       the same bits counted in other units             (none)
    Swizzle<B, M, S>           Swizzle              x ^ ((x >> S) & mask), an involution             SWIZZLE_INVOLUTION
    ComposedLayout             ComposedLayout       S(offset + L(c))                                 SWIZZLE_TILE
    TiledMMA                   tiled.TiledMMA       atoms repeated over threads and values           TMMA_INJECTIVE

Further modules
---------------
`layouts.atoms` has the atoms of CUTLASS 4.7 as TOML files, `layouts.tiled` TiledMMA and TiledCopy, `layouts.tensor`
tensors with their algorithms, `layouts.banks` the bank conflicts of shared memory, `layouts.linear` layouts as matrices
over two elements, `layouts.fit` the layout that has a given table of values.

References: CUTLASS, include/cute/layout.hpp and its documentation of the layout algebra; Shah, "A Note on the Algebra
of CuTe Layouts" (2024); Cecka, "CuTe Layout Representation and Algebra" (2026). Tutorial: docs/tutorial/algebra.md.
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
from layouts.fit import fit as fit
from layouts.fit import from_samples as from_samples
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
