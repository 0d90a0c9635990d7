; LTD: a number below a*b has a quotient below b
; arithmetic
(set-logic ALL)
(push 1)
; LTD
(declare-const a Int)
(declare-const b Int)
(declare-const y Int)
; a >= 1
(assert (! (>= a 1) :named kind.a))
; y < a * b
(assert (! (< y (* a b)) :named hyp.0))
; DIVDEF(a, y)
(assert (! (=> (>= a 1) (and (= y (+ (mod y a) (* a (div y a)))) (<= 0 (mod y a)) (< (mod y a) a))) :named hint.0))
; MONO(b, y // a, a)
(assert (! (=> (and (>= a 0) (<= b (div y a))) (<= (* b a) (* (div y a) a))) :named hint.1))
; not: y // a < b
(assert (not (< (div y a) b)))
(check-sat)
(pop 1)
