; SWIZZLE_TILE: a swizzle maps the aligned tile [0, 2^(B+M+S)) to itself
; CUTLASS, include/cute/swizzle_layout.hpp
(set-logic ALL)
(push 1)
; SWIZZLE_TILE
(declare-const x (_ BitVec 32))
(declare-const B (_ BitVec 32))
(declare-const M (_ BitVec 32))
(declare-const S (_ BitVec 32))
; x < 1 << B + M + S
(assert (! (bvult x (bvshl (_ bv1 32) (bvadd (bvadd B M) S))) :named hyp.0))
; not: x ^ (x & (1 << B) - 1 << M + S) >> S < 1 << B + M + S
(assert (not (bvult (bvxor x (bvlshr (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvshl (_ bv1 32) (bvadd (bvadd B M) S)))))
(check-sat)
(pop 1)
