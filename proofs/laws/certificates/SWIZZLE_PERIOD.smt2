; SWIZZLE_PERIOD: a swizzle commutes with offsets of whole tiles, k*2^(B+M+S) (added or xored: below it they are the same)
; CUTLASS, include/cute/swizzle_layout.hpp
(set-logic ALL)
(push 1)
; SWIZZLE_PERIOD.cut0
(declare-const x (_ BitVec 32))
(declare-const y (_ BitVec 32))
(declare-const B (_ BitVec 32))
(declare-const M (_ BitVec 32))
(declare-const S (_ BitVec 32))
; B <= 31
(assert (! (bvule B (_ bv31 32)) :named hyp.0))
; SWIZZLE_LINEAR(x, y << (B + M + S), B, M, S)
(assert (! (= (bvxor (bvxor x (bvshl y (bvadd (bvadd B M) S))) (bvlshr (bvand (bvxor x (bvshl y (bvadd (bvadd B M) S))) (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvxor (bvxor x (bvlshr (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvxor (bvshl y (bvadd (bvadd B M) S)) (bvlshr (bvand (bvshl y (bvadd (bvadd B M) S)) (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)))) :named hint.0))
; not: y << B + M + S & (1 << B) - 1 << M + S == 0
(assert (not (= (bvand (bvshl y (bvadd (bvadd B M) S)) (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) (_ bv0 32))))
(check-sat)
(pop 1)
(push 1)
; SWIZZLE_PERIOD
(declare-const x (_ BitVec 32))
(declare-const y (_ BitVec 32))
(declare-const B (_ BitVec 32))
(declare-const M (_ BitVec 32))
(declare-const S (_ BitVec 32))
; B <= 31
(assert (! (bvule B (_ bv31 32)) :named hyp.0))
; SWIZZLE_LINEAR(x, y << (B + M + S), B, M, S)
(assert (! (= (bvxor (bvxor x (bvshl y (bvadd (bvadd B M) S))) (bvlshr (bvand (bvxor x (bvshl y (bvadd (bvadd B M) S))) (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvxor (bvxor x (bvlshr (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvxor (bvshl y (bvadd (bvadd B M) S)) (bvlshr (bvand (bvshl y (bvadd (bvadd B M) S)) (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)))) :named hint.0))
; cut 0: y << B + M + S & (1 << B) - 1 << M + S == 0
(assert (! (= (bvand (bvshl y (bvadd (bvadd B M) S)) (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) (_ bv0 32)) :named cut.0))
; not: x ^ y << B + M + S ^ ((x ^ y << B + M + S) & (1 << B) - 1 << M + S) >> S == x ^ (x & (1 << B) - 1 << M + S) >> S ^ y << B + M + S
(assert (not (= (bvxor (bvxor x (bvshl y (bvadd (bvadd B M) S))) (bvlshr (bvand (bvxor x (bvshl y (bvadd (bvadd B M) S))) (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvxor (bvxor x (bvlshr (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvshl y (bvadd (bvadd B M) S))))))
(check-sat)
(pop 1)
