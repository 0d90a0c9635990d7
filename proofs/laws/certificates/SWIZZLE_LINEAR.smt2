; SWIZZLE_LINEAR: a swizzle is linear over xor
; CUTLASS, include/cute/swizzle.hpp; Zhou et al. 2025
(set-logic ALL)
(push 1)
; SWIZZLE_LINEAR
(declare-const x (_ BitVec 32))
(declare-const y (_ BitVec 32))
(declare-const B (_ BitVec 32))
(declare-const M (_ BitVec 32))
(declare-const S (_ BitVec 32))
; not: x ^ y ^ ((x ^ y) & (1 << B) - 1 << M + S) >> S == x ^ (x & (1 << B) - 1 << M + S) >> S ^ (y ^ (y & (1 << B) - 1 << M + S) >> S)
(assert (not (= (bvxor (bvxor x y) (bvlshr (bvand (bvxor x y) (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvxor (bvxor x (bvlshr (bvand x (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S)) (bvxor y (bvlshr (bvand y (bvshl (bvsub (bvshl (_ bv1 32) B) (_ bv1 32)) (bvadd M S))) S))))))
(check-sat)
(pop 1)
