; DIVDEF: a number is its remainder plus the divisor times its quotient
; arithmetic
(set-logic ALL)
(push 1)
; DIVDEF
(declare-const P Int)
(declare-const x Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; not: x == x % P + P * (x // P) and 0 <= x % P and x % P < P
(assert (not (and (= x (+ (mod x P) (* P (div x P)))) (<= 0 (mod x P)) (< (mod x P) P))))
(check-sat)
(pop 1)
