; NOCARRY_LAST: the last mode distributes always: it is unbounded
; derived here
(set-logic ALL)
(push 1)
; NOCARRY_LAST
(declare-const d Int)
(declare-const x Int)
(declare-const y Int)
; not: (x + y) * d == x * d + y * d
(assert (not (= (* (+ x y) d) (+ (* x d) (* y d)))))
(check-sat)
(pop 1)
