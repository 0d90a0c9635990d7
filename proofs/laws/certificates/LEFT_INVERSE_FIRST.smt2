; LEFT_INVERSE_FIRST: dividing a value by the smallest stride u loses nothing: all strides are its multiples
; Cecka 2026, 3.4
(set-logic ALL)
(push 1)
; LEFT_INVERSE_FIRST
(declare-fun R (Int) Int)
(declare-const u Int)
(declare-const y Int)
(declare-const w Int)
; u >= 1
(assert (! (>= u 1) :named kind.u))
; DM(u, u*y, 0, y)
(assert (! (=> (and (>= u 1) (>= 0 0) (< 0 u) (= (* u y) (+ 0 (* u y)))) (and (= (mod (* u y) u) 0) (= (div (* u y) u) y))) :named hint.0))
; not: u * y % u * w + R(u * y // u) == R(y)
(assert (not (= (+ (* (mod (* u y) u) w) (R (div (* u y) u))) (R y))))
(check-sat)
(pop 1)
