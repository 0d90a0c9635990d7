// SPDX-License-Identifier: Apache-2.0
// C = A * B by tcgen05.mma from shared memory under the 128-byte swizzle, which the threads fill; A (m, k) and B (n, k)
// are stored along k. A CTA of 4 warps has 128 x 64 elements; M is a multiple of 128, N and K of 64. A_IN_TENSOR: the
// threads put A into Tensor Memory. LOAD: the shape by which the sums leave it; PACK: sums of f16, two to a register.
#include "ptx.cuh"
#ifndef LOAD
#define LOAD 32
#endif
#ifdef PACK
using Out = __half;
#else
using Out = float;
#endif
constexpr int TILE_M = 128, TILE_N = 64, DEEP = 64, SUMS = 64;

#define REGISTERS_4(r, i) "=r"(r[i]), "=r"(r[i + 1]), "=r"(r[i + 2]), "=r"(r[i + 3])
#define REGISTERS_16(r, i) REGISTERS_4(r, i), REGISTERS_4(r, i + 4), REGISTERS_4(r, i + 8), REGISTERS_4(r, i + 12)
#define OPERANDS_4(r, i) "r"(r[i]), "r"(r[i + 1]), "r"(r[i + 2]), "r"(r[i + 3])
#define OPERANDS_16(r, i) OPERANDS_4(r, i), OPERANDS_4(r, i + 4), OPERANDS_4(r, i + 8), OPERANDS_4(r, i + 12)
#define NAMES_32                                                                                                      \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30," \
  "%31}"

// 32 registers, as many as each of the loads below has.
__device__ __forceinline__ void load(uint32_t (&r)[32], uint32_t at) {
#if defined(PACK)
#define HOW "32x32b.x32.pack::16b.b32 "
#elif LOAD == 32
#define HOW "32x32b.x32.b32 "
#elif LOAD == 64
#define HOW "16x64b.x32.b32 "
#elif LOAD == 128
#define HOW "16x128b.x16.b32 "
#else
#define HOW "16x256b.x8.b32 "
#endif
  asm volatile("tcgen05.ld.sync.aligned." HOW NAMES_32 ", [%32];"
               : REGISTERS_16(r, 0), REGISTERS_16(r, 16)
               : "r"(at)
               : "memory");
}

__device__ __forceinline__ uint64_t matrix(const void* start) {  // K-major in rows of 128 bytes, swizzled
  return uint64_t((shared_address(start) & 0x3FFFF) >> 4) | uint64_t(1) << 16 | uint64_t(64) << 32 | uint64_t(1) << 46 |
         uint64_t(2) << 61;
}

__device__ __forceinline__ void wait(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}"
      ::"r"(shared_address(barrier)), "r"(parity)
      : "memory");
}

extern "C" __global__ void __launch_bounds__(128)
    tcgen05(int K, const __half* A, int lda, const __half* B, int ldb, Out* C, int ldc) {
  __shared__ __align__(1024) __half a[TILE_M * DEEP], b[TILE_N * DEEP];
  __shared__ __align__(8) uint64_t done;
  __shared__ uint32_t start;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
  const int m0 = blockIdx.x * TILE_M, n0 = blockIdx.y * TILE_N;
  if (warp == 0) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(shared_address(&start)) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  if (thread == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&done)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const uint32_t sums = start, left = sums + SUMS;
#ifdef PACK
  const uint32_t types = 0;
#else
  const uint32_t types = 1 << 4;
#endif
  const uint32_t shape = types | (TILE_N / 8) << 17 | (TILE_M / 16) << 24;
  for (int k0 = 0; k0 < K; k0 += DEEP) {
    for (int i = thread; i < (TILE_M + TILE_N) * 8; i += 128) {
      const int row = i / 8, piece = i % 8;
      __half* to = row < TILE_M ? a + row * 64 : b + (row - TILE_M) * 64;
      const __half* from = row < TILE_M ? A + (m0 + row) * lda : B + (n0 + row - TILE_M) * ldb;
      *reinterpret_cast<uint4*>(to + (piece ^ row % 8) * 8) = *reinterpret_cast<const uint4*>(from + k0 + piece * 8);
    }
#ifdef A_IN_TENSOR
    uint32_t r[32];
    for (int i = 0; i < 32; ++i) r[i] = *reinterpret_cast<const uint32_t*>(A + (m0 + thread) * lda + k0 + 2 * i);
    asm volatile("tcgen05.st.sync.aligned.32x32b.x32.b32 [%32], " NAMES_32 ";" ::OPERANDS_16(r, 0), OPERANDS_16(r, 16),
                 "r"(left + (warp * 32 << 16))
                 : "memory");
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
#endif
    fence_proxy_async();
    __syncthreads();
    if (thread == 0) {
      asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
      for (int k = 0; k < DEEP; k += 16) {
#ifdef A_IN_TENSOR
        asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;\n}"
                     ::"r"(sums), "r"(left + k / 2), "l"(matrix(b + k)), "r"(shape), "r"(k0 + k)
                     : "memory");
#else
        asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}"
                     ::"r"(sums), "l"(matrix(a + k)), "l"(matrix(b + k)), "r"(shape), "r"(k0 + k)
                     : "memory");
#endif
      }
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(&done))
                   : "memory");
    }
    wait(&done, k0 / DEEP % 2);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  }
  uint32_t r[32];
  for (int part = 0; part < (LOAD == 32 ? 2 : 4); ++part) {
    const int low = LOAD == 32 ? 0 : part / 2 * 16, n1 = part % 2 * 32;  // 32 lanes x 32 columns, or 16 x 64
#ifdef PACK
    if (n1) break;
    load(r, sums + (warp * 32 << 16));
#elif LOAD == 32
    load(r, sums + (warp * 32 << 16) + n1);
#else
    if (n1) continue;
    load(r, sums + ((warp * 32 + low) << 16));
#endif
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    for (int i = 0; i < 32; ++i) {
#if defined(PACK)
      *reinterpret_cast<uint32_t*>(C + (m0 + thread) * ldc + n0 + 2 * i) = r[i];
#else
#if LOAD == 32
      const int m = thread, n = n1 + i;
#elif LOAD == 64
      const int m = warp * 32 + low + lane / 4 + 8 * (lane % 2), n = lane / 2 % 2 + 2 * i;
#elif LOAD == 128
      const int m = warp * 32 + low + g + 8 * (i % 2), n = t + 4 * (i / 2);
#else
      const int m = warp * 32 + low + g + 8 * (i / 2 % 2), n = 2 * t + i % 2 + 8 * (i / 4);
#endif
      C[(m0 + m) * ldc + n0 + n] = __uint_as_float(r[i]);
#endif
    }
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(sums));
}
