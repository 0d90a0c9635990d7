; COMPOSE_RANK1: A = M:d, B = N:r: R = N:(r*d)
; Shah 2024, 2.12; CuTe documentation
(set-logic ALL)
(push 1)
; COMPOSE_RANK1
(declare-const d Int)
(declare-const r Int)
(declare-const k Int)
; not: r * k * d == k * (r * d)
(assert (not (= (* (* r k) d) (* k (* r d)))))
(check-sat)
(pop 1)
