; SWIZZLE_INVOLUTION: a swizzle with S >= B undoes itself
; CUTLASS, include/cute/swizzle.hpp
(set-logic ALL)
(push 1)
; SWIZZLE_INVOLUTION
(declare-const x (_ BitVec 32))
(declare-const B (_ BitVec 32))
(declare-const M (_ BitVec 32))
(declare-const S (_ BitVec 32))
; S >= B
(assert (! (bvuge S B) :named hyp.0))
; not: x ^ (x & (1 << B) - 1 << M + S) >> S ^ ((x ^ (x & (1 << B) - 1 << M + S) >> S) & (1 << B) - 1 << M + S) >> S == x
(assert (not (= (bvxor (bvxor x (bvlshr (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvlshr (bvand (bvxor x (bvlshr (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) x)))
(check-sat)
(pop 1)
