; RIGHT_INVERSE: step: the chain of modes 1, s_0, s_0 s_1, ... inverts one mode more: L(R(k)) = k stays true
; Cecka 2026, 3.4; CuTe, include/cute/layout.hpp (right_inverse)
(set-logic ALL)
(push 1)
; RIGHT_INVERSE
(declare-fun lo (Int) Int)
(declare-fun hi (Int) Int)
(declare-const p Int)
(declare-const s Int)
(declare-const P Int)
(declare-const a Int)
(declare-const b Int)
(declare-const k Int)
; p >= 1
(assert (! (>= p 1) :named kind.p))
; s >= 1
(assert (! (>= s 1) :named kind.s))
; P >= 1
(assert (! (>= P 1) :named kind.P))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < p
(assert (! (< a p) :named hyp.1))
; k >= 0
(assert (! (>= k 0) :named hyp.2))
; k < P * s
(assert (! (< k (* P s)) :named hyp.3))
; lo((a + p * s * b) % p) + (a + p * s * b) // p % s * P + hi((a + p * s * b) // p // s) == k % P
(assert (! (= (+ (+ (lo (mod (+ a (* (* p s) b)) p)) (* (mod (div (+ a (* (* p s) b)) p) s) P)) (hi (div (div (+ a (* (* p s) b)) p) s))) (mod k P)) :named hyp.4))
; LTD(P, s, k)
(assert (! (=> (and (>= P 1) (< k (* P s))) (< (div k P) s)) :named hint.0))
; DIVDEF(P, k)
(assert (! (=> (>= P 1) (and (= k (+ (mod k P) (* P (div k P)))) (<= 0 (mod k P)) (< (mod k P) P))) :named hint.1))
; NONNEG(P, k)
(assert (! (=> (and (>= P 1) (>= k 0)) (and (>= (div k P) 0) (<= (div k P) k))) :named hint.2))
; MODE_DIGIT(p, s, P, a, b, k // P)
(assert (! (=> (and (>= p 1) (>= s 1) (>= a 0) (< a p) (>= (div k P) 0) (< (div k P) s)) (= (+ (+ (lo (mod (+ (+ a (* p (div k P))) (* (* p s) b)) p)) (* (mod (div (+ (+ a (* p (div k P))) (* (* p s) b)) p) s) P)) (hi (div (div (+ (+ a (* p (div k P))) (* (* p s) b)) p) s))) (+ (+ (lo a) (* (div k P) P)) (hi b)))) :named hint.3))
; MODE_DIGIT(p, s, P, a, b, 0)
(assert (! (=> (and (>= p 1) (>= s 1) (>= a 0) (< a p) (>= 0 0) (< 0 s)) (= (+ (+ (lo (mod (+ (+ a (* p 0)) (* (* p s) b)) p)) (* (mod (div (+ (+ a (* p 0)) (* (* p s) b)) p) s) P)) (hi (div (div (+ (+ a (* p 0)) (* (* p s) b)) p) s))) (+ (+ (lo a) (* 0 P)) (hi b)))) :named hint.4))
; not: lo((a + p * s * b + p * (k // P)) % p) + (a + p * s * b + p * (k // P)) // p % s * P + hi((a + p * s * b + p * (k // P)) // p // s) == k
(assert (not (= (+ (+ (lo (mod (+ (+ a (* (* p s) b)) (* p (div k P))) p)) (* (mod (div (+ (+ a (* (* p s) b)) (* p (div k P))) p) s) P)) (hi (div (div (+ (+ a (* (* p s) b)) (* p (div k P))) p) s))) k)))
(check-sat)
(pop 1)
