// SPDX-License-Identifier: Apache-2.0
// C = A * B by mma.sp, whose metadata are loaded as words of 16 bits along k; A (m, k) has its stored elements alone, B
// (n, k) is stored along k. A CTA of 2 warps has 16 x 16 elements. WIDE: a lane has 32 bits of one row of metadata, and
// not 16 of each of two.
#include "ptx.cuh"
#ifndef ELEMENT
#define ELEMENT __half
#define TYPES "f32.f16.f16.f32"
#endif
#ifndef SHAPE
#define SHAPE "m16n8k32"
#define DEEP 32
#endif
#ifdef INTEGER
using Sum = int;
#define SUMS(d) "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#else
using Sum = float;
#define SUMS(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#endif
#ifndef REGISTERS
#define REGISTERS 4
#endif
#ifndef SELECT
#define SELECT 0
#endif
#ifndef ORDERED
#define ORDERED "::ordered_metadata"
#endif
#define STRING_(x) #x
#define STRING(x) STRING_(x)
constexpr int PER = 4 / sizeof(ELEMENT), BITS = sizeof(ELEMENT) == 4 ? 2 * DEEP : DEEP, WORDS = BITS / 16;

extern "C" __global__ void __launch_bounds__(64)
    sparse(int K, const ELEMENT* A, int lda, const uint16_t* E, int lde, const ELEMENT* B, int ldb, Sum* C, int ldc) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int m0 = blockIdx.x * 16, n0 = blockIdx.y * 16 + warp * 8;
  Sum d[4] = {};
  for (int k0 = 0; k0 < K; k0 += DEEP) {
    uint32_t a[4], b[4];
    for (int r = 0; r < REGISTERS; ++r) {
      a[r] = *reinterpret_cast<const uint32_t*>(A + (m0 + g + 8 * (r % 2)) * lda + k0 / 2 + PER * (t + 4 * (r / 2)));
      b[r] = *reinterpret_cast<const uint32_t*>(B + (n0 + g) * ldb + k0 + PER * (t + 4 * r));
    }
#ifdef WIDE
    const uint16_t* e = E + (m0 + g + 8 * (t % 2)) * lde + k0 / DEEP * WORDS + t / 2 * 2 % WORDS;
    const uint32_t meta = e[0] | uint32_t(e[1]) << 16;
#else
    const uint16_t* e = E + (m0 + g) * lde + k0 / DEEP * WORDS + t % WORDS;
    const uint32_t meta = e[0] | uint32_t(e[8 * lde]) << 16;
#endif
#if REGISTERS == 4
    asm volatile("mma.sp" ORDERED ".sync.aligned." SHAPE ".row.col." TYPES
                 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, " STRING(SELECT) ";"
                 : SUMS(d)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(meta));
#else
    asm volatile("mma.sp" ORDERED ".sync.aligned." SHAPE ".row.col." TYPES
                 " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3}, %8, " STRING(SELECT) ";"
                 : SUMS(d)
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(meta));
#endif
  }
  for (int v = 0; v < 4; ++v) C[(m0 + g + 8 * (v / 2)) * ldc + n0 + 2 * t + v % 2] = d[v];
}
