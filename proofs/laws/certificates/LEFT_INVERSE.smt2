; LEFT_INVERSE: step: sorted, divisible strides give the digits back one mode after the other
; Cecka 2026, 3.4; CuTe, include/cute/layout.hpp (left_inverse)
(set-logic ALL)
(push 1)
; LEFT_INVERSE
(declare-fun R (Int) Int)
(declare-const e Int)
(declare-const s Int)
(declare-const k Int)
(declare-const y Int)
(declare-const w Int)
; e >= 1
(assert (! (>= e 1) :named kind.e))
; k >= 0
(assert (! (>= k 0) :named hyp.0))
; k < s
(assert (! (< k s) :named hyp.1))
; s <= e
(assert (! (<= s e) :named hyp.2))
; DM(e, k + e*y, k, y)
(assert (! (=> (and (>= e 1) (>= k 0) (< k e) (= (+ k (* e y)) (+ k (* e y)))) (and (= (mod (+ k (* e y)) e) k) (= (div (+ k (* e y)) e) y))) :named hint.0))
; not: (k + e * y) % e * w + R((k + e * y) // e) == k * w + R(y)
(assert (not (= (+ (* (mod (+ k (* e y)) e) w) (R (div (+ k (* e y)) e))) (+ (* k w) (R y)))))
(check-sat)
(pop 1)
