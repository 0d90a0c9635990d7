; COALESCE_CONVERSE: two modes that are one mode have strides d and s0*d: nothing else coalesces
; derived here
(set-logic ALL)
(push 1)
; COALESCE_CONVERSE
(declare-const s0 Int)
(declare-const s1 Int)
(declare-const d0 Int)
(declare-const d1 Int)
(declare-const d Int)
; s0 >= 1
(assert (! (>= s0 1) :named kind.s0))
; s0 >= 2
(assert (! (>= s0 2) :named hyp.0))
; s1 >= 2
(assert (! (>= s1 2) :named hyp.1))
; implies(1 < s0 * s1, 1 % s0 * d0 + 1 // s0 * d1 == d)
(assert (! (=> (< 1 (* s0 s1)) (= (+ (* (mod 1 s0) d0) (* (div 1 s0) d1)) d)) :named hyp.2))
; implies(s0 < s0 * s1, s0 % s0 * d0 + s0 // s0 * d1 == s0 * d)
(assert (! (=> (< s0 (* s0 s1)) (= (+ (* (mod s0 s0) d0) (* (div s0 s0) d1)) (* s0 d))) :named hyp.3))
; DM(s0, 1, 1, 0)
(assert (! (=> (and (>= s0 1) (>= 1 0) (< 1 s0) (= 1 (+ 1 (* s0 0)))) (and (= (mod 1 s0) 1) (= (div 1 s0) 0))) :named hint.0))
; DM(s0, s0, 0, 1)
(assert (! (=> (and (>= s0 1) (>= 0 0) (< 0 s0) (= s0 (+ 0 (* s0 1)))) (and (= (mod s0 s0) 0) (= (div s0 s0) 1))) :named hint.1))
; MONO(2, s1, s0)
(assert (! (=> (and (>= s0 0) (<= 2 s1)) (<= (* 2 s0) (* s1 s0))) :named hint.2))
; not: d0 == d and d1 == s0 * d0
(assert (not (and (= d0 d) (= d1 (* s0 d0)))))
(check-sat)
(pop 1)
