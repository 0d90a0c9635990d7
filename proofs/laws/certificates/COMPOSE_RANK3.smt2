; COMPOSE_RANK3: A of rank 3: r divides M0, then the rest runs through M1 whole
; CuTe, include/cute/layout.hpp (composition_impl)
(set-logic ALL)
(push 1)
; COMPOSE_RANK3.cut0
(declare-const r Int)
(declare-const m Int)
(declare-const M1 Int)
(declare-const d0 Int)
(declare-const d1 Int)
(declare-const d2 Int)
(declare-const k0 Int)
(declare-const k1 Int)
(declare-const k2 Int)
; r >= 1
(assert (! (>= r 1) :named kind.r))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; M1 >= 1
(assert (! (>= M1 1) :named kind.M1))
; k0 >= 0
(assert (! (>= k0 0) :named hyp.0))
; k0 < m
(assert (! (< k0 m) :named hyp.1))
; k1 >= 0
(assert (! (>= k1 0) :named hyp.2))
; k1 < M1
(assert (! (< k1 M1) :named hyp.3))
; MONO(k0, m - 1, r)
(assert (! (=> (and (>= r 0) (<= k0 (- m 1))) (<= (* k0 r) (* (- m 1) r))) :named hint.0))
; MONO(0, k0, r)
(assert (! (=> (and (>= r 0) (<= 0 k0)) (<= (* 0 r) (* k0 r))) :named hint.1))
; MONO(1, m, r)
(assert (! (=> (and (>= r 0) (<= 1 m)) (<= (* 1 r) (* m r))) :named hint.2))
; DM(r*m, r*(k0 + m*(k1 + M1*k2)), r*k0, k1 + M1*k2)
(assert (! (=> (and (>= (* r m) 1) (>= (* r k0) 0) (< (* r k0) (* r m)) (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2)))))) (and (= (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (* r k0)) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2))))) :named hint.3))
; DM(M1, k1 + M1*k2, k1, k2)
(assert (! (=> (and (>= M1 1) (>= k1 0) (< k1 M1) (= (+ k1 (* M1 k2)) (+ k1 (* M1 k2)))) (and (= (mod (+ k1 (* M1 k2)) M1) k1) (= (div (+ k1 (* M1 k2)) M1) k2))) :named hint.4))
; DIVEQ(M1, (r*(k0 + m*(k1 + M1*k2))) // (r*m), k1 + M1*k2)
(assert (! (=> (and (>= M1 1) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2)))) (and (= (div (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (div (+ k1 (* M1 k2)) M1)) (= (mod (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (mod (+ k1 (* M1 k2)) M1)))) :named hint.5))
; not: r * m >= 1
(assert (not (>= (* r m) 1)))
(check-sat)
(pop 1)
(push 1)
; COMPOSE_RANK3.cut1
(declare-const r Int)
(declare-const m Int)
(declare-const M1 Int)
(declare-const d0 Int)
(declare-const d1 Int)
(declare-const d2 Int)
(declare-const k0 Int)
(declare-const k1 Int)
(declare-const k2 Int)
; r >= 1
(assert (! (>= r 1) :named kind.r))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; M1 >= 1
(assert (! (>= M1 1) :named kind.M1))
; k0 >= 0
(assert (! (>= k0 0) :named hyp.0))
; k0 < m
(assert (! (< k0 m) :named hyp.1))
; k1 >= 0
(assert (! (>= k1 0) :named hyp.2))
; k1 < M1
(assert (! (< k1 M1) :named hyp.3))
; MONO(k0, m - 1, r)
(assert (! (=> (and (>= r 0) (<= k0 (- m 1))) (<= (* k0 r) (* (- m 1) r))) :named hint.0))
; MONO(0, k0, r)
(assert (! (=> (and (>= r 0) (<= 0 k0)) (<= (* 0 r) (* k0 r))) :named hint.1))
; MONO(1, m, r)
(assert (! (=> (and (>= r 0) (<= 1 m)) (<= (* 1 r) (* m r))) :named hint.2))
; DM(r*m, r*(k0 + m*(k1 + M1*k2)), r*k0, k1 + M1*k2)
(assert (! (=> (and (>= (* r m) 1) (>= (* r k0) 0) (< (* r k0) (* r m)) (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2)))))) (and (= (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (* r k0)) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2))))) :named hint.3))
; DM(M1, k1 + M1*k2, k1, k2)
(assert (! (=> (and (>= M1 1) (>= k1 0) (< k1 M1) (= (+ k1 (* M1 k2)) (+ k1 (* M1 k2)))) (and (= (mod (+ k1 (* M1 k2)) M1) k1) (= (div (+ k1 (* M1 k2)) M1) k2))) :named hint.4))
; DIVEQ(M1, (r*(k0 + m*(k1 + M1*k2))) // (r*m), k1 + M1*k2)
(assert (! (=> (and (>= M1 1) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2)))) (and (= (div (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (div (+ k1 (* M1 k2)) M1)) (= (mod (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (mod (+ k1 (* M1 k2)) M1)))) :named hint.5))
; cut 0: r * m >= 1
(assert (! (>= (* r m) 1) :named cut.0))
; not: r * (k0 + m * (k1 + M1 * k2)) == r * k0 + r * m * (k1 + M1 * k2)
(assert (not (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2)))))))
(check-sat)
(pop 1)
(push 1)
; COMPOSE_RANK3.cut2
(declare-const r Int)
(declare-const m Int)
(declare-const M1 Int)
(declare-const d0 Int)
(declare-const d1 Int)
(declare-const d2 Int)
(declare-const k0 Int)
(declare-const k1 Int)
(declare-const k2 Int)
; r >= 1
(assert (! (>= r 1) :named kind.r))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; M1 >= 1
(assert (! (>= M1 1) :named kind.M1))
; k0 >= 0
(assert (! (>= k0 0) :named hyp.0))
; k0 < m
(assert (! (< k0 m) :named hyp.1))
; k1 >= 0
(assert (! (>= k1 0) :named hyp.2))
; k1 < M1
(assert (! (< k1 M1) :named hyp.3))
; MONO(k0, m - 1, r)
(assert (! (=> (and (>= r 0) (<= k0 (- m 1))) (<= (* k0 r) (* (- m 1) r))) :named hint.0))
; MONO(0, k0, r)
(assert (! (=> (and (>= r 0) (<= 0 k0)) (<= (* 0 r) (* k0 r))) :named hint.1))
; MONO(1, m, r)
(assert (! (=> (and (>= r 0) (<= 1 m)) (<= (* 1 r) (* m r))) :named hint.2))
; DM(r*m, r*(k0 + m*(k1 + M1*k2)), r*k0, k1 + M1*k2)
(assert (! (=> (and (>= (* r m) 1) (>= (* r k0) 0) (< (* r k0) (* r m)) (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2)))))) (and (= (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (* r k0)) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2))))) :named hint.3))
; DM(M1, k1 + M1*k2, k1, k2)
(assert (! (=> (and (>= M1 1) (>= k1 0) (< k1 M1) (= (+ k1 (* M1 k2)) (+ k1 (* M1 k2)))) (and (= (mod (+ k1 (* M1 k2)) M1) k1) (= (div (+ k1 (* M1 k2)) M1) k2))) :named hint.4))
; DIVEQ(M1, (r*(k0 + m*(k1 + M1*k2))) // (r*m), k1 + M1*k2)
(assert (! (=> (and (>= M1 1) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2)))) (and (= (div (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (div (+ k1 (* M1 k2)) M1)) (= (mod (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (mod (+ k1 (* M1 k2)) M1)))) :named hint.5))
; cut 0: r * m >= 1
(assert (! (>= (* r m) 1) :named cut.0))
; cut 1: r * (k0 + m * (k1 + M1 * k2)) == r * k0 + r * m * (k1 + M1 * k2)
(assert (! (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2))))) :named cut.1))
; not: r * (k0 + m * (k1 + M1 * k2)) % (r * m) == r * k0
(assert (not (= (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (* r k0))))
(check-sat)
(pop 1)
(push 1)
; COMPOSE_RANK3.cut3
(declare-const r Int)
(declare-const m Int)
(declare-const M1 Int)
(declare-const d0 Int)
(declare-const d1 Int)
(declare-const d2 Int)
(declare-const k0 Int)
(declare-const k1 Int)
(declare-const k2 Int)
; r >= 1
(assert (! (>= r 1) :named kind.r))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; M1 >= 1
(assert (! (>= M1 1) :named kind.M1))
; k0 >= 0
(assert (! (>= k0 0) :named hyp.0))
; k0 < m
(assert (! (< k0 m) :named hyp.1))
; k1 >= 0
(assert (! (>= k1 0) :named hyp.2))
; k1 < M1
(assert (! (< k1 M1) :named hyp.3))
; MONO(k0, m - 1, r)
(assert (! (=> (and (>= r 0) (<= k0 (- m 1))) (<= (* k0 r) (* (- m 1) r))) :named hint.0))
; MONO(0, k0, r)
(assert (! (=> (and (>= r 0) (<= 0 k0)) (<= (* 0 r) (* k0 r))) :named hint.1))
; MONO(1, m, r)
(assert (! (=> (and (>= r 0) (<= 1 m)) (<= (* 1 r) (* m r))) :named hint.2))
; DM(r*m, r*(k0 + m*(k1 + M1*k2)), r*k0, k1 + M1*k2)
(assert (! (=> (and (>= (* r m) 1) (>= (* r k0) 0) (< (* r k0) (* r m)) (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2)))))) (and (= (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (* r k0)) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2))))) :named hint.3))
; DM(M1, k1 + M1*k2, k1, k2)
(assert (! (=> (and (>= M1 1) (>= k1 0) (< k1 M1) (= (+ k1 (* M1 k2)) (+ k1 (* M1 k2)))) (and (= (mod (+ k1 (* M1 k2)) M1) k1) (= (div (+ k1 (* M1 k2)) M1) k2))) :named hint.4))
; DIVEQ(M1, (r*(k0 + m*(k1 + M1*k2))) // (r*m), k1 + M1*k2)
(assert (! (=> (and (>= M1 1) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2)))) (and (= (div (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (div (+ k1 (* M1 k2)) M1)) (= (mod (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (mod (+ k1 (* M1 k2)) M1)))) :named hint.5))
; cut 0: r * m >= 1
(assert (! (>= (* r m) 1) :named cut.0))
; cut 1: r * (k0 + m * (k1 + M1 * k2)) == r * k0 + r * m * (k1 + M1 * k2)
(assert (! (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2))))) :named cut.1))
; cut 2: r * (k0 + m * (k1 + M1 * k2)) % (r * m) == r * k0
(assert (! (= (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (* r k0)) :named cut.2))
; not: r * (k0 + m * (k1 + M1 * k2)) // (r * m) == k1 + M1 * k2
(assert (not (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2)))))
(check-sat)
(pop 1)
(push 1)
; COMPOSE_RANK3.cut4
(declare-const r Int)
(declare-const m Int)
(declare-const M1 Int)
(declare-const d0 Int)
(declare-const d1 Int)
(declare-const d2 Int)
(declare-const k0 Int)
(declare-const k1 Int)
(declare-const k2 Int)
; r >= 1
(assert (! (>= r 1) :named kind.r))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; M1 >= 1
(assert (! (>= M1 1) :named kind.M1))
; k0 >= 0
(assert (! (>= k0 0) :named hyp.0))
; k0 < m
(assert (! (< k0 m) :named hyp.1))
; k1 >= 0
(assert (! (>= k1 0) :named hyp.2))
; k1 < M1
(assert (! (< k1 M1) :named hyp.3))
; MONO(k0, m - 1, r)
(assert (! (=> (and (>= r 0) (<= k0 (- m 1))) (<= (* k0 r) (* (- m 1) r))) :named hint.0))
; MONO(0, k0, r)
(assert (! (=> (and (>= r 0) (<= 0 k0)) (<= (* 0 r) (* k0 r))) :named hint.1))
; MONO(1, m, r)
(assert (! (=> (and (>= r 0) (<= 1 m)) (<= (* 1 r) (* m r))) :named hint.2))
; DM(r*m, r*(k0 + m*(k1 + M1*k2)), r*k0, k1 + M1*k2)
(assert (! (=> (and (>= (* r m) 1) (>= (* r k0) 0) (< (* r k0) (* r m)) (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2)))))) (and (= (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (* r k0)) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2))))) :named hint.3))
; DM(M1, k1 + M1*k2, k1, k2)
(assert (! (=> (and (>= M1 1) (>= k1 0) (< k1 M1) (= (+ k1 (* M1 k2)) (+ k1 (* M1 k2)))) (and (= (mod (+ k1 (* M1 k2)) M1) k1) (= (div (+ k1 (* M1 k2)) M1) k2))) :named hint.4))
; DIVEQ(M1, (r*(k0 + m*(k1 + M1*k2))) // (r*m), k1 + M1*k2)
(assert (! (=> (and (>= M1 1) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2)))) (and (= (div (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (div (+ k1 (* M1 k2)) M1)) (= (mod (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (mod (+ k1 (* M1 k2)) M1)))) :named hint.5))
; cut 0: r * m >= 1
(assert (! (>= (* r m) 1) :named cut.0))
; cut 1: r * (k0 + m * (k1 + M1 * k2)) == r * k0 + r * m * (k1 + M1 * k2)
(assert (! (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2))))) :named cut.1))
; cut 2: r * (k0 + m * (k1 + M1 * k2)) % (r * m) == r * k0
(assert (! (= (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (* r k0)) :named cut.2))
; cut 3: r * (k0 + m * (k1 + M1 * k2)) // (r * m) == k1 + M1 * k2
(assert (! (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2))) :named cut.3))
; not: r * (k0 + m * (k1 + M1 * k2)) // (r * m) % M1 * d1 + r * (k0 + m * (k1 + M1 * k2)) // (r * m) // M1 * d2 == k1 * d1 + k2 * d2
(assert (not (= (+ (* (mod (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) d1) (* (div (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) d2)) (+ (* k1 d1) (* k2 d2)))))
(check-sat)
(pop 1)
(push 1)
; COMPOSE_RANK3
(declare-const r Int)
(declare-const m Int)
(declare-const M1 Int)
(declare-const d0 Int)
(declare-const d1 Int)
(declare-const d2 Int)
(declare-const k0 Int)
(declare-const k1 Int)
(declare-const k2 Int)
; r >= 1
(assert (! (>= r 1) :named kind.r))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; M1 >= 1
(assert (! (>= M1 1) :named kind.M1))
; k0 >= 0
(assert (! (>= k0 0) :named hyp.0))
; k0 < m
(assert (! (< k0 m) :named hyp.1))
; k1 >= 0
(assert (! (>= k1 0) :named hyp.2))
; k1 < M1
(assert (! (< k1 M1) :named hyp.3))
; MONO(k0, m - 1, r)
(assert (! (=> (and (>= r 0) (<= k0 (- m 1))) (<= (* k0 r) (* (- m 1) r))) :named hint.0))
; MONO(0, k0, r)
(assert (! (=> (and (>= r 0) (<= 0 k0)) (<= (* 0 r) (* k0 r))) :named hint.1))
; MONO(1, m, r)
(assert (! (=> (and (>= r 0) (<= 1 m)) (<= (* 1 r) (* m r))) :named hint.2))
; DM(r*m, r*(k0 + m*(k1 + M1*k2)), r*k0, k1 + M1*k2)
(assert (! (=> (and (>= (* r m) 1) (>= (* r k0) 0) (< (* r k0) (* r m)) (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2)))))) (and (= (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (* r k0)) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2))))) :named hint.3))
; DM(M1, k1 + M1*k2, k1, k2)
(assert (! (=> (and (>= M1 1) (>= k1 0) (< k1 M1) (= (+ k1 (* M1 k2)) (+ k1 (* M1 k2)))) (and (= (mod (+ k1 (* M1 k2)) M1) k1) (= (div (+ k1 (* M1 k2)) M1) k2))) :named hint.4))
; DIVEQ(M1, (r*(k0 + m*(k1 + M1*k2))) // (r*m), k1 + M1*k2)
(assert (! (=> (and (>= M1 1) (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2)))) (and (= (div (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (div (+ k1 (* M1 k2)) M1)) (= (mod (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) (mod (+ k1 (* M1 k2)) M1)))) :named hint.5))
; cut 0: r * m >= 1
(assert (! (>= (* r m) 1) :named cut.0))
; cut 1: r * (k0 + m * (k1 + M1 * k2)) == r * k0 + r * m * (k1 + M1 * k2)
(assert (! (= (* r (+ k0 (* m (+ k1 (* M1 k2))))) (+ (* r k0) (* (* r m) (+ k1 (* M1 k2))))) :named cut.1))
; cut 2: r * (k0 + m * (k1 + M1 * k2)) % (r * m) == r * k0
(assert (! (= (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (* r k0)) :named cut.2))
; cut 3: r * (k0 + m * (k1 + M1 * k2)) // (r * m) == k1 + M1 * k2
(assert (! (= (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) (+ k1 (* M1 k2))) :named cut.3))
; cut 4: r * (k0 + m * (k1 + M1 * k2)) // (r * m) % M1 * d1 + r * (k0 + m * (k1 + M1 * k2)) // (r * m) // M1 * d2 == k1 * d1 + k2 * d2
(assert (! (= (+ (* (mod (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) d1) (* (div (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) d2)) (+ (* k1 d1) (* k2 d2))) :named cut.4))
; not: r * (k0 + m * (k1 + M1 * k2)) % (r * m) * d0 + (r * (k0 + m * (k1 + M1 * k2)) // (r * m) % M1 * d1 + r * (k0 + m * (k1 + M1 * k2)) // (r * m) // M1 * d2) == k0 * (r * d0) + k1 * d1 + k2 * d2
(assert (not (= (+ (* (mod (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) d0) (+ (* (mod (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) d1) (* (div (div (* r (+ k0 (* m (+ k1 (* M1 k2))))) (* r m)) M1) d2))) (+ (+ (* k0 (* r d0)) (* k1 d1)) (* k2 d2)))))
(check-sat)
(pop 1)
