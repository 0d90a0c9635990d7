// SPDX-License-Identifier: Apache-2.0
// The parts that a tiling's kernel is put together from.

//// helpers
typedef unsigned char u8;

// Exchanges `bits` bits of x from `base` on, by those `shift` above.
template <int bits, int base, int shift>
__device__ constexpr int swizzle(int x) { return x ^ (x & ((1 << bits) - 1) << (base + shift)) >> shift; }

template <int bytes> struct alignas(bytes) Chunk { u8 byte[bytes]; };
template <int bytes> __device__ __forceinline__ void move(void* to, const void* from) {
  *(Chunk<bytes>*)to = *(const Chunk<bytes>*)from;
}

__device__ __forceinline__ u32 address(const void* shared) { return (u32)__cvta_generic_to_shared(shared); }

// Element i of registers that hold `per` elements of `bits` bits in `width` words.
template <int per, int bits, int width> __device__ __forceinline__ void put(u32* words, int i, u64 element) {
  #pragma unroll
  for (int w = 0; w < width; ++w) words[i / per * width + w] |= (u32)(element << i % per * bits >> 32 * w);
}
template <int per, int bits, int width> __device__ __forceinline__ u64 get(const u32* words, int i) {
  u64 whole = 0;
  #pragma unroll
  for (int w = 0; w < width; ++w) whole |= (u64)words[i / per * width + w] << 32 * w;
  return whole >> i % per * bits;
}

//// nothing
__device__ const Chunk<$widest> nothing = {};  // what stands beyond the matrices

//// index
__device__ constexpr int $name($parameters) { return $expression; }

//// descriptor
__device__ __forceinline__ u64 ${name}_descriptor(const void* memory, int x) {
  return ${fields}ull | ((address(memory) + $bytes * ${name}_place(x)) & 0x3FFFF) >> 4;
}

//// product_space
namespace $space {
// $mnemonic
${issue}__device__ __forceinline__ $type value(const u32* d, int i) { return $read; }
}

//// accumulators
u32 $name[$words] = {};

//// copy
//// Global to shared memory.
#pragma unroll
for (int v = 0; v < $values; v += $vector) {
  const int x = ${name}_copy(t, v);
  ${guard}move<$bytes>(&${name}_memory[${name}_shared(x)], $source);
}

//// inside, within a line
$along * $rows + x % $rows < $most_rows && $across * $columns + x / $rows < $most_columns

//// load
//// Shared memory to registers, element by element.
u32 $name[$words] = {};
#pragma unroll
for (int v = 0; v < $values; ++v)
  put<$packing>($name, v, ${name}_memory[${name}_shared(${name}_fragment(t, v))]);

//// ldmatrix
//// Shared memory to registers, by ldmatrix.
u32 $name[$words] = {};
#pragma unroll
for (int s = 0; s < $steps; ++s) {
  u32 r[$registers];
  asm volatile("$mnemonic $operands;"
      : $outputs : "r"(address(&${name}_memory[${name}_shared(${name}_source(t, $row * s))])) : "memory");
  #pragma unroll
  for (int i = 0; i < $registers; ++i) $name[${name}_target($per * ($registers * s + i)) / $per] = r[i];
}

//// products
//// Every instruction of a thread's tile, k outermost.
#pragma unroll
for (int k = 0; k < $k; ++k)
  #pragma unroll
  for (int n = 0; n < $n; ++n)
    #pragma unroll
    for (int m = 0; m < $m; ++m) {
      u32* const c = &$result[$words * (m + $m * n)];
      $space::issue(c, $a, $b, c);
    }

//// narrowing
__device__ __forceinline__ u64 narrow(float x) {
  u16 y;
  asm("cvt.rn.$type.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

//// narrowed
//// The second product's A from the accumulators of the first.
u32 P[$words] = {};
#pragma unroll
for (int v = 0; v < $values; ++v) put<$packing>(P, v, narrow(first::value(C, P_reuse(v))));
