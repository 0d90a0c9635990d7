; SCALE: a common factor comes out of quotient and remainder
; arithmetic
(set-logic ALL)
(push 1)
; SCALE
(declare-const r Int)
(declare-const b Int)
(declare-const a Int)
; r >= 1
(assert (! (>= r 1) :named kind.r))
; b >= 1
(assert (! (>= b 1) :named kind.b))
; DIVDEF(b, a)
(assert (! (=> (>= b 1) (and (= a (+ (mod a b) (* b (div a b)))) (<= 0 (mod a b)) (< (mod a b) b))) :named hint.0))
; MONO(a % b, b - 1, r)
(assert (! (=> (and (>= r 0) (<= (mod a b) (- b 1))) (<= (* (mod a b) r) (* (- b 1) r))) :named hint.1))
; MONO(1, b, r)
(assert (! (=> (and (>= r 0) (<= 1 b)) (<= (* 1 r) (* b r))) :named hint.2))
; MONO(0, a % b, r)
(assert (! (=> (and (>= r 0) (<= 0 (mod a b))) (<= (* 0 r) (* (mod a b) r))) :named hint.3))
; DM(r*b, r*a, r*(a % b), a // b)
(assert (! (=> (and (>= (* r b) 1) (>= (* r (mod a b)) 0) (< (* r (mod a b)) (* r b)) (= (* r a) (+ (* r (mod a b)) (* (* r b) (div a b))))) (and (= (mod (* r a) (* r b)) (* r (mod a b))) (= (div (* r a) (* r b)) (div a b)))) :named hint.4))
; not: r * a % (r * b) == r * (a % b) and r * a // (r * b) == a // b
(assert (not (and (= (mod (* r a) (* r b)) (* r (mod a b))) (= (div (* r a) (* r b)) (div a b)))))
(check-sat)
(pop 1)
