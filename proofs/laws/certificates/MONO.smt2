; MONO: multiplying by a natural number keeps the order
; arithmetic
(set-logic ALL)
(push 1)
; MONO
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; c >= 0
(assert (! (>= c 0) :named kind.c))
; a <= b
(assert (! (<= a b) :named hyp.0))
; not: a * c <= b * c
(assert (not (<= (* a c) (* b c))))
(check-sat)
(pop 1)
