; COMPOSE_FIT: step 2: (N-1)*r < M: the mode fits into the first mode of A
; Shah 2024, 2.12; Cecka 2026, 3.3 (apparent violation)
(set-logic ALL)
(push 1)
; COMPOSE_FIT
(declare-fun f (Int) Int)
(declare-const M Int)
(declare-const r Int)
(declare-const d Int)
(declare-const N Int)
(declare-const k Int)
; M >= 1
(assert (! (>= M 1) :named kind.M))
; r >= 0
(assert (! (>= r 0) :named kind.r))
; (N - 1) * r < M
(assert (! (< (* (- N 1) r) M) :named hyp.0))
; k >= 0
(assert (! (>= k 0) :named hyp.1))
; k < N
(assert (! (< k N) :named hyp.2))
; MONO(k, N - 1, r)
(assert (! (=> (and (>= r 0) (<= k (- N 1))) (<= (* k r) (* (- N 1) r))) :named hint.0))
; MONO(0, k, r)
(assert (! (=> (and (>= r 0) (<= 0 k)) (<= (* 0 r) (* k r))) :named hint.1))
; DM(M, r*k, r*k, 0)
(assert (! (=> (and (>= M 1) (>= (* r k) 0) (< (* r k) M) (= (* r k) (+ (* r k) (* M 0)))) (and (= (mod (* r k) M) (* r k)) (= (div (* r k) M) 0))) :named hint.2))
; not: r * k % M * d + f(r * k // M) == k * (r * d) + f(0)
(assert (not (= (+ (* (mod (* r k) M) d) (f (div (* r k) M))) (+ (* k (* r d)) (f 0)))))
(check-sat)
(pop 1)
