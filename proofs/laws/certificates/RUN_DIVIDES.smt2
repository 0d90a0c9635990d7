; RUN_DIVIDES: a layout whose values are 0, v, 2v, ... for n steps and not for one more has a first mode of n: n divides its size
; derived here
(set-logic ALL)
(push 1)
; RUN_DIVIDES
(declare-fun f (Int) Int)
(declare-const s Int)
(declare-const e Int)
(declare-const n Int)
(declare-const v Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; s >= 2
(assert (! (>= s 2) :named hyp.0))
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.1))
; f(1) != s * e
(assert (! (distinct (f 1) (* s e)) :named hyp.2))
; n >= 2
(assert (! (>= n 2) :named hyp.3))
; 1 % s * e + f(1 // s) == v
(assert (! (= (+ (* (mod 1 s) e) (f (div 1 s))) v) :named hyp.4))
; implies(s < n, s % s * e + f(s // s) == s * v)
(assert (! (=> (< s n) (= (+ (* (mod s s) e) (f (div s s))) (* s v))) :named hyp.5))
; n % s * e + f(n // s) != n * v
(assert (! (distinct (+ (* (mod n s) e) (f (div n s))) (* n v)) :named hyp.6))
; DM(s, 1, 1, 0)
(assert (! (=> (and (>= s 1) (>= 1 0) (< 1 s) (= 1 (+ 1 (* s 0)))) (and (= (mod 1 s) 1) (= (div 1 s) 0))) :named hint.0))
; DM(s, s, 0, 1)
(assert (! (=> (and (>= s 1) (>= 0 0) (< 0 s) (= s (+ 0 (* s 1)))) (and (= (mod s s) 0) (= (div s s) 1))) :named hint.1))
; DM(s, n, n, 0)
(assert (! (=> (and (>= s 1) (>= n 0) (< n s) (= n (+ n (* s 0)))) (and (= (mod n s) n) (= (div n s) 0))) :named hint.2))
; not: n == s
(assert (not (= n s)))
(check-sat)
(pop 1)
