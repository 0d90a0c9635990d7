// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../arch/mma_own.hpp"

namespace cute {

template <>
struct Copy_Traits<own::LOAD_X4> {
  using ThrID = Layout<_32>;
  using SrcLayout = Layout<Shape<_32, _128>, Stride<_128, _1>>;
  using DstLayout = Layout<Shape<_32, Shape<_32, _4>>, Stride<_32, Stride<_1, _1024>>>;
  using RefLayout = DstLayout;
};

}  // namespace cute
