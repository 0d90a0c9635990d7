// SPDX-License-Identifier: Apache-2.0
// The instructions that the kernels of this folder issue, each as a function.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// One m16n8 product of registers: k is 32 bytes of elements for A and B alike.
#define MMA_F32(shape, type)                                                                                          \
  asm volatile("mma.sync.aligned." shape ".row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, " \
               "{%0,%1,%2,%3};"                                                                                       \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

template <class T>
struct Mma;

template <>
struct Mma<__half> {
  using Sum = float;
  __device__ __forceinline__ static void run(float* d, const uint32_t* a, const uint32_t* b) {
    MMA_F32("m16n8k16", "f16");
  }
};
template <>
struct Mma<__nv_bfloat16> {
  using Sum = float;
  __device__ __forceinline__ static void run(float* d, const uint32_t* a, const uint32_t* b) {
    MMA_F32("m16n8k16", "bf16");
  }
};
template <>
struct Mma<float> {  // the tf32 in 32 bits
  using Sum = float;
  __device__ __forceinline__ static void run(float* d, const uint32_t* a, const uint32_t* b) {
    MMA_F32("m16n8k8", "tf32");
  }
};
template <>
struct Mma<__nv_fp8_e4m3> {
  using Sum = float;
  __device__ __forceinline__ static void run(float* d, const uint32_t* a, const uint32_t* b) {
    MMA_F32("m16n8k32", "e4m3");
  }
};
template <>
struct Mma<__nv_fp8_e5m2> {
  using Sum = float;
  __device__ __forceinline__ static void run(float* d, const uint32_t* a, const uint32_t* b) {
    MMA_F32("m16n8k32", "e5m2");
  }
};
template <>
struct Mma<int8_t> {
  using Sum = int;
  __device__ __forceinline__ static void run(int* d, const uint32_t* a, const uint32_t* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

__device__ __forceinline__ void ldmatrix_x4(uint32_t* r, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t* r, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
__device__ __forceinline__ void stmatrix_x2(void* row, uint32_t r0, uint32_t r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(shared_address(row)), "r"(r0), "r"(r1)
               : "memory");
}

// 16 bytes, of which the first `bytes` are read and the others become 0.
__device__ __forceinline__ void cp_async(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// A K-major matrix in rows of 128 bytes under the 128-byte swizzle; 8 rows are 1024 bytes.
__device__ __forceinline__ uint64_t k_major_128(const void* start) {
  return static_cast<uint64_t>((shared_address(start) & 0x3FFFF) >> 4) | uint64_t(1) << 16 | uint64_t(64) << 32 |
         uint64_t(1) << 62;
}
__device__ __forceinline__ void wgmma_m64n64k16(float (&d)[32], uint64_t a, uint64_t b) {
  asm volatile(
      "{.reg .pred p;\n setp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, 0;}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}
