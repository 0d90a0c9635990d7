; SWIZZLE_NEGATIVE: a swizzle with a negative shift -S, S >= B, undoes itself
; CUTLASS, include/cute/swizzle.hpp
(set-logic ALL)
(push 1)
; SWIZZLE_NEGATIVE
(declare-const x (_ BitVec 32))
(declare-const B (_ BitVec 32))
(declare-const M (_ BitVec 32))
(declare-const S (_ BitVec 32))
; S >= B
(assert (! (bvuge S B) :named hyp.0))
; not: x ^ (x & (1 << B) - 1 << M) << S ^ ((x ^ (x & (1 << B) - 1 << M) << S) & (1 << B) - 1 << M) << S == x
(assert (not (= (bvxor (bvxor x (bvshl (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) M)) S)) (bvshl (bvand (bvxor x (bvshl (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) M)) S)) (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) M)) S)) x)))
(check-sat)
(pop 1)
