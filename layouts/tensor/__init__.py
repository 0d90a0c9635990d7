# SPDX-License-Identifier: Apache-2.0
"""Tensors: layouts over storage, their tiles and partitions, and the generic algorithms over them."""

from layouts.tensor.algorithms import copy, gemm
from layouts.tensor.module import Coordinates, E, Xor, identity_layout, module_layout, xor_layout
from layouts.tensor.partition import inner_partition, local_partition, local_tile, make_predicate, outer_partition
from layouts.tensor.tensor import Tensor, make_fragment_like, make_identity_tensor, make_tensor

__all__ = [
    "Coordinates",
    "E",
    "Tensor",
    "Xor",
    "copy",
    "gemm",
    "identity_layout",
    "inner_partition",
    "local_partition",
    "local_tile",
    "make_fragment_like",
    "make_identity_tensor",
    "make_predicate",
    "make_tensor",
    "module_layout",
    "outer_partition",
    "xor_layout",
]
