# SPDX-License-Identifier: Apache-2.0
"""Tensors: layouts over storage, their tiles and partitions, and the generic algorithms over them."""

from layouts.tensor.algorithms import copy as copy
from layouts.tensor.algorithms import gemm as gemm
from layouts.tensor.module import Coordinates as Coordinates
from layouts.tensor.module import E as E
from layouts.tensor.module import Xor as Xor
from layouts.tensor.module import identity_layout as identity_layout
from layouts.tensor.module import module_layout as module_layout
from layouts.tensor.module import xor_layout as xor_layout
from layouts.tensor.partition import inner_partition as inner_partition
from layouts.tensor.partition import local_partition as local_partition
from layouts.tensor.partition import local_tile as local_tile
from layouts.tensor.partition import make_predicate as make_predicate
from layouts.tensor.partition import outer_partition as outer_partition
from layouts.tensor.tensor import Tensor as Tensor
from layouts.tensor.tensor import make_fragment_like as make_fragment_like
from layouts.tensor.tensor import make_identity_tensor as make_identity_tensor
from layouts.tensor.tensor import make_tensor as make_tensor
