; RIGHT_INVERSE_MAXIMAL: where L takes each value once and no stride is negative, the end P of the chain is no value of L: no right inverse is longer
; Cecka 2026, 3.4; CuTe, include/cute/layout.hpp (right_inverse)
(set-logic ALL)
(push 1)
; RIGHT_INVERSE_MAXIMAL
(declare-fun f (Int) Int)
(declare-fun other (Int) Int)
(declare-const P Int)
(declare-const a Int)
(declare-const u Int)
(declare-const d Int)
(declare-const c Int)
(declare-const w Int)
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.0))
; f(u) == d
(assert (! (= (f u) d) :named hyp.1))
; d >= 1
(assert (! (>= d 1) :named hyp.2))
; other(f(u)) == u
(assert (! (= (other (f u)) u) :named hyp.3))
; implies(d < P, other(d + f(0)) == 0)
(assert (! (=> (< d P) (= (other (+ d (f 0))) 0)) :named hyp.4))
; a >= 0
(assert (! (>= a 0) :named hyp.5))
; c >= 1
(assert (! (>= c 1) :named hyp.6))
; w >= 0
(assert (! (>= w 0) :named hyp.7))
; P == a + c * d + w
(assert (! (= P (+ (+ a (* c d)) w)) :named hyp.8))
; MONO(1, c, d)
(assert (! (=> (and (>= d 0) (<= 1 c)) (<= (* 1 d) (* c d))) :named hint.0))
; not: d == P
(assert (not (= d P)))
(check-sat)
(pop 1)
