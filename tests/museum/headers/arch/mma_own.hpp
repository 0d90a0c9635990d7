// SPDX-License-Identifier: Apache-2.0
// Wrong on purpose: a2 is given twice, a3 never. The right one is in examples/headers.
#pragma once

#include <cstdint>

namespace own {

struct MMA_16x8x16_F32F16F16F32 {
  using DRegisters = float[4];
  using ARegisters = uint32_t[4];
  using BRegisters = uint32_t[2];
  using CRegisters = float[4];

  static void fma(float& d0, float& d1, float& d2, float& d3,
                  uint32_t const& a0, uint32_t const& a1, uint32_t const& a2, uint32_t const& a3,
                  uint32_t const& b0, uint32_t const& b1,
                  float const& c0, float const& c1, float const& c2, float const& c3) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\n"
                 : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a2), "r"(b0), "r"(b1),
                   "f"(c0), "f"(c1), "f"(c2), "f"(c3));
  }
};

struct LOAD_X4 {
  using SRegisters = uint128_t[1];
  using DRegisters = uint32_t[4];

  static void copy(uint128_t const& source, uint32_t& d0, uint32_t& d1, uint32_t& d2, uint32_t& d3) {
    uint32_t address = shared_address(&source);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3)
                 : "r"(address));
  }
};

}  // namespace own
