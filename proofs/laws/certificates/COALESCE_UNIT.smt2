; COALESCE_UNIT: an extent of 1 before other modes goes, whatever its stride
; CuTe documentation, 02_layout_algebra
(set-logic ALL)
(push 1)
; COALESCE_UNIT
(declare-fun f (Int) Int)
(declare-const d Int)
(declare-const y Int)
; not: y % 1 * d + f(y // 1) == f(y)
(assert (not (= (+ (* (mod y 1) d) (f (div y 1))) (f y))))
(check-sat)
(pop 1)
