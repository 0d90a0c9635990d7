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
The functions have CuTe's names. `lanecheck laws NAME` proves a law, for every extent, stride and rank.

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
    ComposedLayout             ComposedLayout       S(offset + L(c)); inverses too, if there are     SWIZZLE_TILE
    TiledMMA                   tiled.TiledMMA       atoms repeated over threads and values           TMMA_INJECTIVE

Further modules
---------------
`layouts.batched` evaluates whole domains and many layouts at once, on arrays of numpy or CuPy, and finds the first
index at which a property fails. `layouts.atoms` has the atoms of CUTLASS 4.7 as TOML files, `layouts.tiled` TiledMMA
and TiledCopy, `layouts.tensor` tensors with their algorithms, `layouts.bank_conflicts` the bank conflicts of shared
memory, `layouts.linear` layouts as matrices over two elements, `layouts.fit` the layout that has a given table of
values.

References: CUTLASS, include/cute/layout.hpp and its documentation of the layout algebra; Shah, "A Note on the Algebra
of CuTe Layouts" (2024); Cecka, "CuTe Layout Representation and Algebra" (2026). Tutorial: docs/tutorial/algebra.md.
"""

from importlib import import_module
from inspect import isfunction
from typing import TYPE_CHECKING, Any

from layouts.arguments import naming_arguments as _naming_arguments
from layouts.arithmetic import ceil_div, evenly_divides, round_up, shape_div
from layouts.coalesce import coalesce, filter, filter_zeros, same_function
from layouts.complement import complement
from layouts.coords import crd2crd, crd2idx, idx2crd
from layouts.errors import LayoutError, LayoutParseError, ProfileError
from layouts.fit import fit, from_samples
from layouts.int_tuple import (
    IntTuple,
    compatible,
    congruent,
    depth,
    leaves,
    product,
    rank,
    shape,
    size,
    weakly_congruent,
)
from layouts.layout import Layout, cosize, dice, domain_offset, make_layout, parse_layout, slice, slice_and_offset
from layouts.order import compact_col_major, compact_order, compact_row_major
from layouts.text import format_int_tuple, parse_int_tuple

if TYPE_CHECKING:
    from layouts.common import domain_distribute, max_alignment, max_common_layout, max_common_vector, nullspace
    from layouts.compose import Tiler, admissible
    from layouts.composed import ComposedLayout, composition
    from layouts.composed_inverse import left_inverse, right_inverse
    from layouts.divide import flat_divide, logical_divide, tiled_divide, zipped_divide
    from layouts.linear import F2Matrix, f2_layout, f2_matrix
    from layouts.modes import (
        append,
        flatten,
        group,
        make_layout_like,
        make_ordered_layout,
        prepend,
        replace,
        select,
        take,
        unflatten,
    )
    from layouts.products import (
        blocked_product,
        flat_product,
        logical_product,
        raked_product,
        tile_to_shape,
        tiled_product,
        zipped_product,
    )
    from layouts.swizzle import Swizzle, make_swizzle
    from layouts.widths import downcast, recast, upcast

__all__ = [
    "ComposedLayout",
    "F2Matrix",
    "IntTuple",
    "Layout",
    "LayoutError",
    "LayoutParseError",
    "ProfileError",
    "Swizzle",
    "Tiler",
    "admissible",
    "append",
    "blocked_product",
    "ceil_div",
    "coalesce",
    "compact_col_major",
    "compact_order",
    "compact_row_major",
    "compatible",
    "complement",
    "composition",
    "congruent",
    "cosize",
    "crd2crd",
    "crd2idx",
    "depth",
    "dice",
    "domain_distribute",
    "domain_offset",
    "downcast",
    "evenly_divides",
    "f2_layout",
    "f2_matrix",
    "filter",
    "filter_zeros",
    "fit",
    "flat_divide",
    "flat_product",
    "flatten",
    "format_int_tuple",
    "from_samples",
    "group",
    "idx2crd",
    "leaves",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_layout",
    "make_layout_like",
    "make_ordered_layout",
    "make_swizzle",
    "max_alignment",
    "max_common_layout",
    "max_common_vector",
    "nullspace",
    "parse_int_tuple",
    "parse_layout",
    "prepend",
    "product",
    "raked_product",
    "rank",
    "recast",
    "replace",
    "right_inverse",
    "round_up",
    "same_function",
    "select",
    "shape",
    "shape_div",
    "size",
    "slice",
    "slice_and_offset",
    "take",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "unflatten",
    "upcast",
    "weakly_congruent",
    "zipped_divide",
    "zipped_product",
]

_HOME = {
    name: f"layouts.{module}"
    for module, names in {
        "common": "domain_distribute max_alignment max_common_layout max_common_vector nullspace",
        "compose": "Tiler admissible",
        "composed": "ComposedLayout composition",
        "composed_inverse": "left_inverse right_inverse",
        "divide": "flat_divide logical_divide tiled_divide zipped_divide",
        "linear": "F2Matrix f2_layout f2_matrix",
        "modes": "append flatten group make_layout_like make_ordered_layout prepend replace select take unflatten",
        "products": (
            "blocked_product flat_product logical_product raked_product tile_to_shape tiled_product zipped_product"
        ),
        "swizzle": "Swizzle make_swizzle",
        "widths": "downcast recast upcast",
    }.items()
    for name in names.split()
}
"""A name and the module that is imported when it is first asked for; no name is that of a module."""


def __getattr__(name: str) -> Any:
    """Import a name's module on its first use: most commands call few operations."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    exported = getattr(import_module(_HOME[name]), name)
    globals()[name] = _public(exported)
    return globals()[name]


def _public(exported: Any) -> Any:
    """Return a function with errors that name its arguments; a class or a constant as it is."""
    return _naming_arguments(exported) if isfunction(exported) else exported


globals().update({name: _public(globals()[name]) for name in __all__ if name not in _HOME})
