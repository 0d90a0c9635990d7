; DIVEQ: equal numbers have equal quotients and remainders
; arithmetic
(set-logic ALL)
(push 1)
; DIVEQ
(declare-const P Int)
(declare-const x Int)
(declare-const y Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; x == y
(assert (! (= x y) :named hyp.0))
; not: x // P == y // P and x % P == y % P
(assert (not (and (= (div x P) (div y P)) (= (mod x P) (mod y P)))))
(check-sat)
(pop 1)
