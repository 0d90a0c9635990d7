; SWIZZLE_INJECTIVE: a swizzle with a shift of at least 1 sends no two addresses to one
; CUTLASS, include/cute/swizzle.hpp
(set-logic ALL)
(push 1)
; SWIZZLE_INJECTIVE
(declare-const x (_ BitVec 32))
(declare-const y (_ BitVec 32))
(declare-const B (_ BitVec 32))
(declare-const M (_ BitVec 32))
(declare-const S (_ BitVec 32))
; S >= 1
(assert (! (bvuge S (_ bv1 32)) :named hyp.0))
; x ^ (x & (1 << B) - 1 << M + S) >> S == y ^ (y & (1 << B) - 1 << M + S) >> S
(assert (! (= (bvxor x (bvlshr (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvxor y (bvlshr (bvand y (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S))) :named hyp.1))
; not: x == y
(assert (not (= x y)))
(check-sat)
(pop 1)
