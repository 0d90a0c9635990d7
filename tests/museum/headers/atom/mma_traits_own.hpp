// SPDX-License-Identifier: Apache-2.0
// Wrong on purpose: the last stride of B. The right one is in examples/headers.
#pragma once

#include "../arch/mma_own.hpp"

namespace cute {

namespace {
template <int N>
using Row_16xN = Layout<Shape<Shape<_4, _8>, Shape<_2, _2, Int<N / 8>>>,
                        Stride<Stride<_32, _1>, Stride<_16, _8, _128>>>;
}

template <>
struct MMA_Traits<own::MMA_16x8x16_F32F16F16F32> {
  using ValTypeD = float;
  using ValTypeA = half_t;
  using ValTypeB = half_t;
  using ValTypeC = float;

  using Shape_MNK = Shape<_16, _8, _16>;
  using ThrID = Layout<_32>;
  using ALayout = Row_16xN<16>;
  using BLayout = Layout<Shape<Shape<_4, _8>, Shape<_2, _2>>, Stride<Stride<_16, _1>, Stride<_8, _32>>>;
  using CLayout = Row_16xN<8>;
};

}  // namespace cute
