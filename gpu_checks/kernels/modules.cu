// SPDX-License-Identifier: Apache-2.0
// What every module of kernels begins with.

//// common
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned long long u64;

__device__ __forceinline__ float half(u32 bits) {
  float x;
  asm("{ .reg .b16 t; mov.b16 t, %1; cvt.f32.f16 %0, t; }" : "=f"(x) : "h"((u16)bits));
  return x;
}

// Slot s is element s % VALUES of lane s / VALUES.
template <int WORDS, int VALUES, int PER, int BITS, int WIDTH>
__device__ __forceinline__ void one_hot(u32* words, u64 one, int slot, int lane) {
  const int i = slot % VALUES;
  const u64 held = slot / VALUES == lane ? one << (i % PER * BITS) : 0;
  #pragma unroll
  for (int w = 0; w < WORDS; ++w)
    words[w] = w / WIDTH == i / PER ? (u32)(held >> (w % WIDTH * 32)) : 0;
}
