; LDMATRIX_32: ldmatrix, 8 rows of 32 B under Swizzle<1,4,3>: no bank conflict, for every column and any start
; CUTLASS, include/cute/atom/mma_traits_sm90_gmma.hpp (32B swizzle atoms)
(set-logic ALL)
(push 1)
; LDMATRIX_32
(declare-const r (_ BitVec 32))
(declare-const r2 (_ BitVec 32))
(declare-const c (_ BitVec 32))
(declare-const base (_ BitVec 32))
; r < 8
(assert (! (bvult r (_ bv8 32)) :named hyp.0))
; r2 < 8
(assert (! (bvult r2 (_ bv8 32)) :named hyp.1))
; (base + r * 32 + (c << 4) ^ (base + r * 32 + (c << 4) & 1 << 7) >> 3) >> 4 & 7 == (base + r2 * 32 + (c << 4) ^ (base + r2 * 32 + (c << 4) & 1 << 7) >> 3) >> 4 & 7
(assert (! (= (bvand (bvlshr (bvxor (bvadd (bvadd base (bvmul r (_ bv32 32))) (bvshl c (_ bv4 32))) (bvlshr (bvand (bvadd (bvadd base (bvmul r (_ bv32 32))) (bvshl c (_ bv4 32))) (bvshl (_ bv1 32) (_ bv7 32))) (_ bv3 32))) (_ bv4 32)) (_ bv7 32)) (bvand (bvlshr (bvxor (bvadd (bvadd base (bvmul r2 (_ bv32 32))) (bvshl c (_ bv4 32))) (bvlshr (bvand (bvadd (bvadd base (bvmul r2 (_ bv32 32))) (bvshl c (_ bv4 32))) (bvshl (_ bv1 32) (_ bv7 32))) (_ bv3 32))) (_ bv4 32)) (_ bv7 32))) :named hyp.2))
; not: r == r2
(assert (not (= r r2)))
(check-sat)
(pop 1)
