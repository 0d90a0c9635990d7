# SPDX-License-Identifier: Apache-2.0
"""The derivation of a thread's view of a tile: the layout after each step."""

from __future__ import annotations

from typing import NamedTuple

from layouts.composed import ComposedLayout
from layouts.int_tuple import IntTuple
from layouts.layout import Layout
from layouts.tensor.tensor import Tensor
from layouts.tiled.tiled_mma import AXES, WHOLE, TiledMMA


class Step(NamedTuple):
    """One step of a derivation: its name, its argument in words, the names of the resulting modes, and the layout."""

    name: str
    text: str
    profile: str
    layout: Layout | ComposedLayout


def derive(mma: TiledMMA, operand: str, shape: IntTuple | Layout | ComposedLayout, thread: int = 0) -> tuple[Step, ...]:
    """Return the steps from an operand's layout to the view of ``thread``.

    A shape means its column-major layout. The first step is the layout itself, the last the thread's view; the one
    before the last is thrfrg.

    >>> from layouts.atoms import registry
    >>> fma = registry()["UniversalFMA<float,float,float,float>"]
    >>> mma = TiledMMA(fma, "(16,16,1):(16,1,0)", ("(16,4):(4,1)", "(16,4):(4,1)"))
    >>> for step in derive(mma, "C", Layout((128, 128), (128, 1))):
    ...     print(step.name, "|", step.layout)
    C | (128,128):(128,1)
    logical_divide | (((16,4),2),((16,4),2)):(((512,128),8192),((4,1),64))
    zipped_divide | ((1,1),((16,4,2),(16,4,2))):((0,0),((512,128,8192),(4,1,64)))
    compose | ((1,1),((16,4,2),(16,4,2))):((0,0),((512,128,8192),(4,1,64)))
    zipped_divide | ((1,(16,16)),(1,((4,2),(4,2)))):((0,(512,4)),(0,((128,8192),(1,64))))
    slice | (1,(4,2),(4,2)):(0,(128,8192),(1,64))

    Raises LayoutError where thrfrg and get_slice do.
    """
    layout = Layout(shape) if isinstance(shape, (int, tuple)) else shape
    thr = mma.get_slice(thread)
    view = thr.partition(operand, Tensor(None, layout))
    axes = AXES[operand]
    (x, y), (m, n) = (WHOLE[axis] for axis in axes), (mma.atom.shape[axis] for axis in axes)
    (p, q), (i, j) = (mma.permutation_mnk[axis] for axis in axes), (thr.place[axis] for axis in axes)
    threads, rest = f"(ThrV,(Thr{x},Thr{y}))", f"Rest{x},Rest{y}"
    described = (
        (operand, "the operand's layout", f"({x},{y})"),
        ("logical_divide", f"by the permutation <{p}, {q}>", f"((Perm{x},Rest{x}),(Perm{y},Rest{y}))"),
        ("zipped_divide", f"by the atom's extents <{m}, {n}>", f"((Atom{x},Atom{y}),({rest}))"),
        ("compose", f"with the atom's {operand} = {mma.atom.operand(operand)}", f"((ThrV,FrgV),({rest}))"),
        (
            "zipped_divide",
            f"by the atoms' <{mma.atoms[axes[0]]}, {mma.atoms[axes[1]]}>",
            f"({threads},(FrgV,({rest})))",
        ),
        ("slice", f"at thread {thread}: {threads} = ({thr.v},({i},{j})), offset {view.offset}", f"(FrgV,{rest})"),
    )
    layouts = (*mma.steps(operand, layout), view.layout)
    return tuple(Step(*words, after) for words, after in zip(described, layouts, strict=True))
