; U: quotient and remainder are unique
; arithmetic; Shah 2024, section 2.1
(set-logic ALL)
(push 1)
; U
(declare-const S Int)
(declare-const q Int)
(declare-const r Int)
(declare-const q2 Int)
(declare-const r2 Int)
; r >= 0
(assert (! (>= r 0) :named hyp.0))
; r < S
(assert (! (< r S) :named hyp.1))
; r2 >= 0
(assert (! (>= r2 0) :named hyp.2))
; r2 < S
(assert (! (< r2 S) :named hyp.3))
; S * q + r == S * q2 + r2
(assert (! (= (+ (* S q) r) (+ (* S q2) r2)) :named hyp.4))
; not: q == q2 and r == r2
(assert (not (and (= q q2) (= r r2))))
(check-sat)
(pop 1)
