; INTERVALS: step: modes of B whose largest values sum to less than the next stride r stay below it
; derived here; repairs Shah 2024, Def. 2.17: with two modes, disjoint intervals are this very condition
(set-logic ALL)
(push 1)
; INTERVALS
(declare-const s Int)
(declare-const x Int)
(declare-const t Int)
(declare-const k Int)
(declare-const N Int)
(declare-const r Int)
; s >= 0
(assert (! (>= s 0) :named kind.s))
; x <= t
(assert (! (<= x t) :named hyp.0))
; k < N
(assert (! (< k N) :named hyp.1))
; t + (N - 1) * s < r
(assert (! (< (+ t (* (- N 1) s)) r) :named hyp.2))
; MONO(k, N - 1, s)
(assert (! (=> (and (>= s 0) (<= k (- N 1))) (<= (* k s) (* (- N 1) s))) :named hint.0))
; not: x + k * s <= t + (N - 1) * s and x + k * s < r
(assert (not (and (<= (+ x (* k s)) (+ t (* (- N 1) s))) (< (+ x (* k s)) r))))
(check-sat)
(pop 1)
