# SPDX-License-Identifier: Apache-2.0
"""Triton's LinearLayout: for each bit of an index, the value that it adds by xor.

Where no two of these values have a bit in common, xor is addition, and the layout is that of CuTe.
"""

from triton._C.libtriton import linear_layout


def bases_of(shape, stride):
    """Return the value of each bit of an index; ValueError for what isn't a power of two, or has a bit twice."""
    bases = []
    for s, d in zip(leaves(shape), leaves(stride), strict=True):
        if s & (s - 1):
            raise ValueError(f"an extent of {s}")
        bases += [d << k for k in range(s.bit_length() - 1)]
    if sum(bases) != union(bases):
        raise ValueError("two bits of an index have a bit of the value in common")
    return bases


def union(numbers):
    """The bits of all numbers."""
    bits = 0
    for number in numbers:
        bits |= number
    return bits


def leaves(modes):
    return [leaf for mode in modes for leaf in leaves(mode)] if isinstance(modes, tuple) else [modes]


def layout(shape, stride, space):
    bases = [[base] for base in bases_of(shape, stride)]
    return linear_layout.LinearLayout.from_bases([("i", bases)], ["i"], [space], False)


def plain(layout):
    (wrapped,) = (bases for name, bases in layout.bases if name == "i")
    bases = [base for (base,) in wrapped]
    if sum(bases) != union(bases):
        raise ValueError("two bits of an index have a bit of the value in common")
    return [2] * len(bases), bases


def one_at_a_time(shape, stride):
    points = 1 << len(bases_of(shape, stride))
    apply = layout(shape, stride, points).apply
    return lambda: [apply({"i": i})["i"] for i in range(points)]


EVALUATE = {"one at a time": one_at_a_time}
OPERATIONS = {"composition": lambda a, b: b.compose(a), "right_inverse": lambda a: a.invert()}
