; COALESCE_LAST: the two last modes (s0,s1):(d, s0*d) are one mode, beyond the domain too
; CuTe documentation, 02_layout_algebra
(set-logic ALL)
(push 1)
; COALESCE_LAST.cut0
(declare-const s0 Int)
(declare-const d Int)
(declare-const y Int)
; s0 >= 1
(assert (! (>= s0 1) :named kind.s0))
; DIVDEF(s0, y)
(assert (! (=> (>= s0 1) (and (= y (+ (mod y s0) (* s0 (div y s0)))) (<= 0 (mod y s0)) (< (mod y s0) s0))) :named hint.0))
; not: y * d == (y % s0 + s0 * (y // s0)) * d
(assert (not (= (* y d) (* (+ (mod y s0) (* s0 (div y s0))) d))))
(check-sat)
(pop 1)
(push 1)
; COALESCE_LAST
(declare-const s0 Int)
(declare-const d Int)
(declare-const y Int)
; s0 >= 1
(assert (! (>= s0 1) :named kind.s0))
; DIVDEF(s0, y)
(assert (! (=> (>= s0 1) (and (= y (+ (mod y s0) (* s0 (div y s0)))) (<= 0 (mod y s0)) (< (mod y s0) s0))) :named hint.0))
; cut 0: y * d == (y % s0 + s0 * (y // s0)) * d
(assert (! (= (* y d) (* (+ (mod y s0) (* s0 (div y s0))) d)) :named cut.0))
; not: y % s0 * d + y // s0 * (s0 * d) == y * d
(assert (not (= (+ (* (mod y s0) d) (* (div y s0) (* s0 d))) (* y d))))
(check-sat)
(pop 1)
