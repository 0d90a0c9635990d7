; DM: division with remainder finds the digits that a number was made of
; arithmetic
(set-logic ALL)
(push 1)
; DM
(declare-const P Int)
(declare-const x Int)
(declare-const p Int)
(declare-const c Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; p >= 0
(assert (! (>= p 0) :named hyp.0))
; p < P
(assert (! (< p P) :named hyp.1))
; x == p + P * c
(assert (! (= x (+ p (* P c))) :named hyp.2))
; not: x % P == p and x // P == c
(assert (not (and (= (mod x P) p) (= (div x P) c))))
(check-sat)
(pop 1)
