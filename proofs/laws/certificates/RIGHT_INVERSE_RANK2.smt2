; RIGHT_INVERSE_RANK2: L = (s,t):(t,1): L(R(k)) = k with R = (t,s):(s,1)
; Cecka 2026, 3.4; CuTe documentation
(set-logic ALL)
(push 1)
; RIGHT_INVERSE_RANK2
(declare-const s Int)
(declare-const t Int)
(declare-const k Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; k >= 0
(assert (! (>= k 0) :named hyp.0))
; k < t * s
(assert (! (< k (* t s)) :named hyp.1))
; DIVDEF(t, k)
(assert (! (=> (>= t 1) (and (= k (+ (mod k t) (* t (div k t)))) (<= 0 (mod k t)) (< (mod k t) t))) :named hint.0))
; LTD(t, s, k)
(assert (! (=> (and (>= t 1) (< k (* t s))) (< (div k t) s)) :named hint.1))
; DM(s, R(k), k // t, k % t)
(assert (! (=> (and (>= s 1) (>= (div k t) 0) (< (div k t) s) (= (+ (* (mod k t) s) (div k t)) (+ (div k t) (* s (mod k t))))) (and (= (mod (+ (* (mod k t) s) (div k t)) s) (div k t)) (= (div (+ (* (mod k t) s) (div k t)) s) (mod k t)))) :named hint.2))
; NONNEG(t, k)
(assert (! (=> (and (>= t 1) (>= k 0)) (and (>= (div k t) 0) (<= (div k t) k))) :named hint.3))
; not: (k % t * s + k // t) % s * t + (k % t * s + k // t) // s == k
(assert (not (= (+ (* (mod (+ (* (mod k t) s) (div k t)) s) t) (div (+ (* (mod k t) s) (div k t)) s)) k)))
(check-sat)
(pop 1)
