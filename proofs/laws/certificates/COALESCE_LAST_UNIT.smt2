; COALESCE_LAST_UNIT: an extent of 1 in the last place goes, inside the domain
; CuTe, include/cute/layout.hpp (coalesce, coalesce_x)
(set-logic ALL)
(push 1)
; COALESCE_LAST_UNIT
(declare-const s Int)
(declare-const d Int)
(declare-const e Int)
(declare-const y Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; y >= 0
(assert (! (>= y 0) :named hyp.0))
; y < s
(assert (! (< y s) :named hyp.1))
; DM(s, y, y, 0)
(assert (! (=> (and (>= s 1) (>= y 0) (< y s) (= y (+ y (* s 0)))) (and (= (mod y s) y) (= (div y s) 0))) :named hint.0))
; not: y % s * d + y // s * e == y * d
(assert (not (= (+ (* (mod y s) d) (* (div y s) e)) (* y d))))
(check-sat)
(pop 1)
