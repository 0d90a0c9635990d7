; COMPOSE_SPLIT: step 3: M = r*m: m steps stay in the first mode of A, the rest of N goes on with stride 1
; Shah 2024, 2.14; CuTe, include/cute/layout.hpp (composition_impl)
(set-logic ALL)
(push 1)
; COMPOSE_SPLIT.cut0
(declare-fun f (Int) Int)
(declare-const r Int)
(declare-const m Int)
(declare-const d Int)
(declare-const k0 Int)
(declare-const k1 Int)
; r >= 1
(assert (! (>= r 1) :named kind.r))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; k0 >= 0
(assert (! (>= k0 0) :named hyp.0))
; k0 < m
(assert (! (< k0 m) :named hyp.1))
; MONO(k0, m - 1, r)
(assert (! (=> (and (>= r 0) (<= k0 (- m 1))) (<= (* k0 r) (* (- m 1) r))) :named hint.0))
; MONO(0, k0, r)
(assert (! (=> (and (>= r 0) (<= 0 k0)) (<= (* 0 r) (* k0 r))) :named hint.1))
; MONO(1, m, r)
(assert (! (=> (and (>= r 0) (<= 1 m)) (<= (* 1 r) (* m r))) :named hint.2))
; DM(r*m, r*(k0 + m*k1), r*k0, k1)
(assert (! (=> (and (>= (* r m) 1) (>= (* r k0) 0) (< (* r k0) (* r m)) (= (* r (+ k0 (* m k1))) (+ (* r k0) (* (* r m) k1)))) (and (= (mod (* r (+ k0 (* m k1))) (* r m)) (* r k0)) (= (div (* r (+ k0 (* m k1))) (* r m)) k1))) :named hint.3))
; not: r * m >= 1
(assert (not (>= (* r m) 1)))
(check-sat)
(pop 1)
(push 1)
; COMPOSE_SPLIT.cut1
(declare-fun f (Int) Int)
(declare-const r Int)
(declare-const m Int)
(declare-const d Int)
(declare-const k0 Int)
(declare-const k1 Int)
; r >= 1
(assert (! (>= r 1) :named kind.r))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; k0 >= 0
(assert (! (>= k0 0) :named hyp.0))
; k0 < m
(assert (! (< k0 m) :named hyp.1))
; MONO(k0, m - 1, r)
(assert (! (=> (and (>= r 0) (<= k0 (- m 1))) (<= (* k0 r) (* (- m 1) r))) :named hint.0))
; MONO(0, k0, r)
(assert (! (=> (and (>= r 0) (<= 0 k0)) (<= (* 0 r) (* k0 r))) :named hint.1))
; MONO(1, m, r)
(assert (! (=> (and (>= r 0) (<= 1 m)) (<= (* 1 r) (* m r))) :named hint.2))
; DM(r*m, r*(k0 + m*k1), r*k0, k1)
(assert (! (=> (and (>= (* r m) 1) (>= (* r k0) 0) (< (* r k0) (* r m)) (= (* r (+ k0 (* m k1))) (+ (* r k0) (* (* r m) k1)))) (and (= (mod (* r (+ k0 (* m k1))) (* r m)) (* r k0)) (= (div (* r (+ k0 (* m k1))) (* r m)) k1))) :named hint.3))
; cut 0: r * m >= 1
(assert (! (>= (* r m) 1) :named cut.0))
; not: r * (k0 + m * k1) == r * k0 + r * m * k1
(assert (not (= (* r (+ k0 (* m k1))) (+ (* r k0) (* (* r m) k1)))))
(check-sat)
(pop 1)
(push 1)
; COMPOSE_SPLIT
(declare-fun f (Int) Int)
(declare-const r Int)
(declare-const m Int)
(declare-const d Int)
(declare-const k0 Int)
(declare-const k1 Int)
; r >= 1
(assert (! (>= r 1) :named kind.r))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; k0 >= 0
(assert (! (>= k0 0) :named hyp.0))
; k0 < m
(assert (! (< k0 m) :named hyp.1))
; MONO(k0, m - 1, r)
(assert (! (=> (and (>= r 0) (<= k0 (- m 1))) (<= (* k0 r) (* (- m 1) r))) :named hint.0))
; MONO(0, k0, r)
(assert (! (=> (and (>= r 0) (<= 0 k0)) (<= (* 0 r) (* k0 r))) :named hint.1))
; MONO(1, m, r)
(assert (! (=> (and (>= r 0) (<= 1 m)) (<= (* 1 r) (* m r))) :named hint.2))
; DM(r*m, r*(k0 + m*k1), r*k0, k1)
(assert (! (=> (and (>= (* r m) 1) (>= (* r k0) 0) (< (* r k0) (* r m)) (= (* r (+ k0 (* m k1))) (+ (* r k0) (* (* r m) k1)))) (and (= (mod (* r (+ k0 (* m k1))) (* r m)) (* r k0)) (= (div (* r (+ k0 (* m k1))) (* r m)) k1))) :named hint.3))
; cut 0: r * m >= 1
(assert (! (>= (* r m) 1) :named cut.0))
; cut 1: r * (k0 + m * k1) == r * k0 + r * m * k1
(assert (! (= (* r (+ k0 (* m k1))) (+ (* r k0) (* (* r m) k1))) :named cut.1))
; not: r * (k0 + m * k1) % (r * m) * d + f(r * (k0 + m * k1) // (r * m)) == k0 * (r * d) + f(k1)
(assert (not (= (+ (* (mod (* r (+ k0 (* m k1))) (* r m)) d) (f (div (* r (+ k0 (* m k1))) (* r m)))) (+ (* k0 (* r d)) (f k1)))))
(check-sat)
(pop 1)
