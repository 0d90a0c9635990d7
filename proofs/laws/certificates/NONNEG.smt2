; NONNEG: the quotient of a natural number is natural and no larger
; arithmetic
(set-logic ALL)
(push 1)
; NONNEG
(declare-const P Int)
(declare-const x Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; x >= 0
(assert (! (>= x 0) :named kind.x))
; DIVDEF(P, x)
(assert (! (=> (>= P 1) (and (= x (+ (mod x P) (* P (div x P)))) (<= 0 (mod x P)) (< (mod x P) P))) :named hint.0))
; MONO(1, P, x // P)
(assert (! (=> (and (>= (div x P) 0) (<= 1 P)) (<= (* 1 (div x P)) (* P (div x P)))) :named hint.1))
; not: x // P >= 0 and x // P <= x
(assert (not (and (>= (div x P) 0) (<= (div x P) x))))
(check-sat)
(pop 1)
