; PERMUTATION_INJECTIVE: the permutation (F,R):(R,1) of a tile axis, repeated, sends no two coordinates to one place
; CUTLASS, media/docs/cpp/cute/0t_mma_atom.md
(set-logic ALL)
(push 1)
; PERMUTATION_INJECTIVE
(declare-const F Int)
(declare-const R Int)
(declare-const f Int)
(declare-const r Int)
(declare-const q Int)
(declare-const f2 Int)
(declare-const r2 Int)
(declare-const q2 Int)
; f >= 0
(assert (! (>= f 0) :named hyp.0))
; f < F
(assert (! (< f F) :named hyp.1))
; r >= 0
(assert (! (>= r 0) :named hyp.2))
; r < R
(assert (! (< r R) :named hyp.3))
; f2 >= 0
(assert (! (>= f2 0) :named hyp.4))
; f2 < F
(assert (! (< f2 F) :named hyp.5))
; r2 >= 0
(assert (! (>= r2 0) :named hyp.6))
; r2 < R
(assert (! (< r2 R) :named hyp.7))
; f * R + r + F * R * q == f2 * R + r2 + F * R * q2
(assert (! (= (+ (+ (* f R) r) (* (* F R) q)) (+ (+ (* f2 R) r2) (* (* F R) q2))) :named hyp.8))
; U(R, f + F*q, r, f2 + F*q2, r2)
(assert (! (=> (and (>= r 0) (< r R) (>= r2 0) (< r2 R) (= (+ (* R (+ f (* F q))) r) (+ (* R (+ f2 (* F q2))) r2))) (and (= (+ f (* F q)) (+ f2 (* F q2))) (= r r2))) :named hint.0))
; U(F, q, f, q2, f2)
(assert (! (=> (and (>= f 0) (< f F) (>= f2 0) (< f2 F) (= (+ (* F q) f) (+ (* F q2) f2))) (and (= q q2) (= f f2))) :named hint.1))
; not: f == f2 and r == r2 and q == q2
(assert (not (and (= f f2) (= r r2) (= q q2))))
(check-sat)
(pop 1)
