// SPDX-License-Identifier: Apache-2.0
// Functions in every form that a black box may have, the map of C of m16n8k16 each; and some that are no map.

struct Place {
  int row, col;
};
template <int scale>
struct Pair {
  int a, b;
};
template <int n>
__host__ __device__ int get(const Pair<1>& p) {
  return n ? p.b : p.a;
}

__device__ int2 as_int2(int lane, int i) { return make_int2(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2); }
__device__ Place as_struct(int lane, int i) { return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2}; }
namespace mine {
__device__ Pair<1> as_tuple(int lane, int i) { return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2}; }
}
template <int rows>
__device__ void by_reference(int lane, int i, int& row, int& col) {
  row = lane / 4 + i / 2 * rows;
  col = lane % 4 * 2 + i % 2;
}
__device__ void by_unsigned(int lane, int i, unsigned& row, unsigned& col) {
  row = lane / 4 + i / 2 * 8;
  col = lane % 4 * 2 + i % 2;
}
__device__ void by_pointer(int lane, int i, int* row, int* col) { by_reference<8>(lane, i, *row, *col); }
__device__ int2 of_the_thread(int, int i) { return as_int2(threadIdx.x, i); }

__device__ void unset(int lane, int i, int& row, int& col) {
  if (lane != 3) row = lane;
  col = i;
}
__device__ int2 negative(int lane, int i) { return make_int2(lane - 1, i); }
__device__ int one_number(int lane, int i) { return lane + i; }
#ifdef __CUDACC__  // PTX
__device__ int2 trap(int, int) {
  asm("trap;");
  return {};
}
__device__ int2 endless(int lane, int) {
  unsigned clock = 1;
  while (clock) asm volatile("mov.u32 %0, %%clock; or.b32 %0, %0, 1;" : "=r"(clock));
  return make_int2(lane, clock);
}
#endif
