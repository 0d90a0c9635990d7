; TMMA_RANGE: TiledMMA, one axis: i + a*(w + A*r) stays inside a*A*R
; CUTLASS, include/cute/atom/mma_atom.hpp (thrfrg_C)
(set-logic ALL)
(push 1)
; TMMA_RANGE
(declare-const a Int)
(declare-const A Int)
(declare-const R Int)
(declare-const i Int)
(declare-const w Int)
(declare-const r Int)
; i >= 0
(assert (! (>= i 0) :named hyp.0))
; i < a
(assert (! (< i a) :named hyp.1))
; w >= 0
(assert (! (>= w 0) :named hyp.2))
; w < A
(assert (! (< w A) :named hyp.3))
; r >= 0
(assert (! (>= r 0) :named hyp.4))
; r < R
(assert (! (< r R) :named hyp.5))
; APPEND_RANGE(A, R, w, r)
(assert (! (=> (and (>= w 0) (< w A) (>= r 0) (< r R)) (and (>= (+ w (* A r)) 0) (< (+ w (* A r)) (* A R)))) :named hint.0))
; APPEND_RANGE(a, A*R, i, w + A*r)
(assert (! (=> (and (>= i 0) (< i a) (>= (+ w (* A r)) 0) (< (+ w (* A r)) (* A R))) (and (>= (+ i (* a (+ w (* A r)))) 0) (< (+ i (* a (+ w (* A r)))) (* a (* A R))))) :named hint.1))
; not: 0 <= i + a * (w + A * r) and i + a * (w + A * r) < a * (A * R)
(assert (not (and (<= 0 (+ i (* a (+ w (* A r))))) (< (+ i (* a (+ w (* A r)))) (* a (* A R))))))
(check-sat)
(pop 1)
