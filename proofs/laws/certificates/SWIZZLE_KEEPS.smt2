; SWIZZLE_KEEPS: a swizzle changes bits [M, M+B) only
; CUTLASS, include/cute/swizzle.hpp
(set-logic ALL)
(push 1)
; SWIZZLE_KEEPS
(declare-const x (_ BitVec 32))
(declare-const B (_ BitVec 32))
(declare-const M (_ BitVec 32))
(declare-const S (_ BitVec 32))
; M <= 31
(assert (! (bvule M (_ bv31 32)) :named hyp.0))
; not: (x ^ (x & (1 << B) - 1 << M + S) >> S ^ x) & ~((1 << B) - 1 << M) == 0
(assert (not (= (bvand (bvxor (bvxor x (bvlshr (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) x) (bvnot (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) M))) (_ bv0 32))))
(check-sat)
(pop 1)
