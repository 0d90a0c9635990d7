; DIVIDE_UNIQUE: logical_divide: no index of A lies in two (tile, rest)
; Cecka 2026, 3.5; CuTe documentation
(set-logic ALL)
(push 1)
; DIVIDE_UNIQUE
(declare-const N Int)
(declare-const d Int)
(declare-const i Int)
(declare-const a Int)
(declare-const b Int)
(declare-const i2 Int)
(declare-const a2 Int)
(declare-const b2 Int)
; i >= 0
(assert (! (>= i 0) :named hyp.0))
; i < N
(assert (! (< i N) :named hyp.1))
; a >= 0
(assert (! (>= a 0) :named hyp.2))
; a < d
(assert (! (< a d) :named hyp.3))
; i2 >= 0
(assert (! (>= i2 0) :named hyp.4))
; i2 < N
(assert (! (< i2 N) :named hyp.5))
; a2 >= 0
(assert (! (>= a2 0) :named hyp.6))
; a2 < d
(assert (! (< a2 d) :named hyp.7))
; i * d + a + b * (d * N) == i2 * d + a2 + b2 * (d * N)
(assert (! (= (+ (+ (* i d) a) (* b (* d N))) (+ (+ (* i2 d) a2) (* b2 (* d N)))) :named hyp.8))
; U(d, i + N*b, a, i2 + N*b2, a2)
(assert (! (=> (and (>= a 0) (< a d) (>= a2 0) (< a2 d) (= (+ (* d (+ i (* N b))) a) (+ (* d (+ i2 (* N b2))) a2))) (and (= (+ i (* N b)) (+ i2 (* N b2))) (= a a2))) :named hint.0))
; U(N, b, i, b2, i2)
(assert (! (=> (and (>= i 0) (< i N) (>= i2 0) (< i2 N) (= (+ (* N b) i) (+ (* N b2) i2))) (and (= b b2) (= i i2))) :named hint.1))
; not: i == i2 and a == a2 and b == b2
(assert (not (and (= i i2) (= a a2) (= b b2))))
(check-sat)
(pop 1)
