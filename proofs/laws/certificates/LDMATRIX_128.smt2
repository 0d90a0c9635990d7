; LDMATRIX_128: ldmatrix, 8 consecutive rows of 128 B under Swizzle<3,4,3>: eight 16 B chunks in eight bank groups, for every column c and any 16 B aligned start
; CUTLASS, include/cute/atom/mma_traits_sm90_gmma.hpp (128B swizzle atoms)
(set-logic ALL)
(push 1)
; LDMATRIX_128
(declare-const r (_ BitVec 32))
(declare-const r2 (_ BitVec 32))
(declare-const c (_ BitVec 32))
(declare-const o (_ BitVec 32))
(declare-const base (_ BitVec 32))
; r < 8
(assert (! (bvult r (_ bv8 32)) :named hyp.0))
; r2 < 8
(assert (! (bvult r2 (_ bv8 32)) :named hyp.1))
; (base + (o + r) * 128 + (c << 4) ^ (base + (o + r) * 128 + (c << 4) & 7 << 7) >> 3) >> 4 & 7 == (base + (o + r2) * 128 + (c << 4) ^ (base + (o + r2) * 128 + (c << 4) & 7 << 7) >> 3) >> 4 & 7
(assert (! (= (bvand (bvlshr (bvxor (bvadd (bvadd base (bvmul (bvadd o r) (_ bv128 32))) (bvshl c (_ bv4 32))) (bvlshr (bvand (bvadd (bvadd base (bvmul (bvadd o r) (_ bv128 32))) (bvshl c (_ bv4 32))) (bvshl (_ bv7 32) (_ bv7 32))) (_ bv3 32))) (_ bv4 32)) (_ bv7 32)) (bvand (bvlshr (bvxor (bvadd (bvadd base (bvmul (bvadd o r2) (_ bv128 32))) (bvshl c (_ bv4 32))) (bvlshr (bvand (bvadd (bvadd base (bvmul (bvadd o r2) (_ bv128 32))) (bvshl c (_ bv4 32))) (bvshl (_ bv7 32) (_ bv7 32))) (_ bv3 32))) (_ bv4 32)) (_ bv7 32))) :named hyp.2))
; not: r == r2
(assert (not (= r r2)))
(check-sat)
(pop 1)
