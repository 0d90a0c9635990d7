; LIMIT_ONCE: a digit of A that has ended one run of a mode of B can end no other: so there are no more runs than modes of A
; derived here
(set-logic ALL)
(push 1)
; LIMIT_ONCE
(declare-const M Int)
(declare-const n Int)
(declare-const m Int)
(declare-const u Int)
(declare-const v Int)
; u < M
(assert (! (< u M) :named hyp.0))
; n * u >= M
(assert (! (>= (* n u) M) :named hyp.1))
; v < M
(assert (! (< v M) :named hyp.2))
; m * v >= M
(assert (! (>= (* m v) M) :named hyp.3))
; MONO(n, 1, u)
(assert (! (=> (and (>= u 0) (<= n 1)) (<= (* n u) (* 1 u))) :named hint.0))
; MONO(2, n, u)
(assert (! (=> (and (>= u 0) (<= 2 n)) (<= (* 2 u) (* n u))) :named hint.1))
; MONO(m, 1, v)
(assert (! (=> (and (>= v 0) (<= m 1)) (<= (* m v) (* 1 v))) :named hint.2))
; MONO(2, m, v)
(assert (! (=> (and (>= v 0) (<= 2 m)) (<= (* 2 v) (* m v))) :named hint.3))
; not: (n - 1) * u + (m - 1) * v >= M
(assert (not (>= (+ (* (- n 1) u) (* (- m 1) v)) M)))
(check-sat)
(pop 1)
