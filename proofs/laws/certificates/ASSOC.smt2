; ASSOC: two-level digits regroup
; arithmetic
(set-logic ALL)
(push 1)
; ASSOC
(declare-const x Int)
(declare-const y Int)
(declare-const a Int)
(declare-const b Int)
(declare-const q Int)
(declare-const v Int)
(declare-const w Int)
; x == y + a * b * q
(assert (! (= x (+ y (* (* a b) q))) :named hyp.0))
; y == w + a * v
(assert (! (= y (+ w (* a v))) :named hyp.1))
; not: x == w + a * (v + b * q)
(assert (not (= x (+ w (* a (+ v (* b q)))))))
(check-sat)
(pop 1)
