; COALESCE: neighbours (s0,s1):(d, s0*d) are one mode s0*s1:d, before any rest, for every index
; CuTe documentation, 02_layout_algebra; Cecka 2026, 3.2
(set-logic ALL)
(push 1)
; COALESCE.cut0
(declare-fun f (Int) Int)
(declare-const s0 Int)
(declare-const s1 Int)
(declare-const d Int)
(declare-const y Int)
; s0 >= 1
(assert (! (>= s0 1) :named kind.s0))
; s1 >= 1
(assert (! (>= s1 1) :named kind.s1))
; NDIV(s0, s1, y)
(assert (! (=> (and (>= s0 1) (>= s1 1)) (and (= (div (div y s0) s1) (div y (* s0 s1))) (= (mod (div y s0) s1) (div (mod y (* s0 s1)) s0)) (= (mod y s0) (mod (mod y (* s0 s1)) s0)))) :named hint.0))
; MRAD(s0, s1, y)
(assert (! (=> (and (>= s0 1) (>= s1 1)) (= (mod y (* s0 s1)) (+ (mod y s0) (* s0 (mod (div y s0) s1))))) :named hint.1))
; not: y % (s0 * s1) * d == y % s0 * d + y // s0 % s1 * (s0 * d)
(assert (not (= (* (mod y (* s0 s1)) d) (+ (* (mod y s0) d) (* (mod (div y s0) s1) (* s0 d))))))
(check-sat)
(pop 1)
(push 1)
; COALESCE
(declare-fun f (Int) Int)
(declare-const s0 Int)
(declare-const s1 Int)
(declare-const d Int)
(declare-const y Int)
; s0 >= 1
(assert (! (>= s0 1) :named kind.s0))
; s1 >= 1
(assert (! (>= s1 1) :named kind.s1))
; NDIV(s0, s1, y)
(assert (! (=> (and (>= s0 1) (>= s1 1)) (and (= (div (div y s0) s1) (div y (* s0 s1))) (= (mod (div y s0) s1) (div (mod y (* s0 s1)) s0)) (= (mod y s0) (mod (mod y (* s0 s1)) s0)))) :named hint.0))
; MRAD(s0, s1, y)
(assert (! (=> (and (>= s0 1) (>= s1 1)) (= (mod y (* s0 s1)) (+ (mod y s0) (* s0 (mod (div y s0) s1))))) :named hint.1))
; cut 0: y % (s0 * s1) * d == y % s0 * d + y // s0 % s1 * (s0 * d)
(assert (! (= (* (mod y (* s0 s1)) d) (+ (* (mod y s0) d) (* (mod (div y s0) s1) (* s0 d)))) :named cut.0))
; not: y % s0 * d + y // s0 % s1 * (s0 * d) + f(y // s0 // s1) == y % (s0 * s1) * d + f(y // (s0 * s1))
(assert (not (= (+ (+ (* (mod y s0) d) (* (mod (div y s0) s1) (* s0 d))) (f (div (div y s0) s1))) (+ (* (mod y (* s0 s1)) d) (f (div y (* s0 s1)))))))
(check-sat)
(pop 1)
