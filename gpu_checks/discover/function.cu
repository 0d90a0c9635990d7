// SPDX-License-Identifier: Apache-2.0
// The kernel that calls a user's function for every lane and value; it follows the user's text.

//// harness
//// A result is read as x and y, as row and col, or by get<0> and get<1> of a tuple; or two arguments take it.
#line 1 "lanecheck"
namespace lanecheck_discover {
struct Point {
  long long row, col;
};
template <int n>
struct Rank : Rank<n - 1> {};
template <>
struct Rank<0> {};
template <int>
struct Hidden;
template <int n>
__device__ void get(Hidden<n>&);  // so that get<0>(p) is read as a template, and looked up with p

template <class T>
__device__ auto point(const T& p, Rank<2>) -> decltype(Point{(long long)p.x, (long long)p.y}) {
  return {(long long)p.x, (long long)p.y};
}
template <class T>
__device__ auto point(const T& p, Rank<1>) -> decltype(Point{(long long)p.row, (long long)p.col}) {
  return {(long long)p.row, (long long)p.col};
}
template <class T>
__device__ auto point(const T& p, Rank<0>) -> decltype(Point{(long long)get<0>(p), (long long)get<1>(p)}) {
  return {(long long)get<0>(p), (long long)get<1>(p)};
}

template <class F>
__device__ auto call(F f, int lane, int i, Rank<5>) -> decltype(point(f(lane, i), Rank<2>())) {
  return point(f(lane, i), Rank<2>());
}
template <class F, class N>
__device__ Point by_reference(F f, int lane, int i, N row, N col) {
  f(lane, i, row, col);
  return {(long long)row, (long long)col};
}
template <class F, class N>
__device__ Point by_pointer(F f, int lane, int i, N row, N col) {
  f(lane, i, &row, &col);
  return {(long long)row, (long long)col};
}
template <class F, class N = int>
__device__ auto call(F f, int lane, int i, Rank<4>) -> decltype((void)f(lane, i, *(N*)0, *(N*)0), Point{}) {
  return by_reference<F, N>(f, lane, i, $unset, $unset);
}
template <class F, class N = unsigned>
__device__ auto call(F f, int lane, int i, Rank<3>) -> decltype((void)f(lane, i, *(N*)0, *(N*)0), Point{}) {
  return by_reference<F, N>(f, lane, i, $unset, $unset);
}
template <class F, class N = int>
__device__ auto call(F f, int lane, int i, Rank<2>) -> decltype((void)f(lane, i, (N*)0, (N*)0), Point{}) {
  return by_pointer<F, N>(f, lane, i, $unset, $unset);
}
template <class F, class N = unsigned>
__device__ auto call(F f, int lane, int i, Rank<1>) -> decltype((void)f(lane, i, (N*)0, (N*)0), Point{}) {
  return by_pointer<F, N>(f, lane, i, $unset, $unset);
}
template <class F>
__device__ Point call(F f, int, int, Rank<0>) {
  static_assert(sizeof(F) == 0, "$forms");
  return {};
}
}  // namespace lanecheck_discover

struct LanecheckFunction {  // overloads and templates have no address to pass: this has the name
  template <class... Given>
  __device__ auto operator()(Given&&... given) const -> decltype($name(static_cast<Given&&>(given)...)) {
    return $name(static_cast<Given&&>(given)...);
  }
};

extern "C" __global__ void lanecheck_discover_all(long long* found) {
  LanecheckFunction f;
  for (int i = 0; i < $values; ++i) {
    lanecheck_discover::Point p = lanecheck_discover::call(f, threadIdx.x, i, lanecheck_discover::Rank<5>());
    found[(threadIdx.x * $values + i) * 2] = p.row;
    found[(threadIdx.x * $values + i) * 2 + 1] = p.col;
  }
}
