; DIVIDE_EXISTS: logical_divide: every index of A lies in some (tile, rest): size(A) = N*d*g, tiler N:d
; Cecka 2026, 3.5; CuTe documentation
(set-logic ALL)
(push 1)
; DIVIDE_EXISTS
(declare-const N Int)
(declare-const d Int)
(declare-const g Int)
(declare-const y Int)
; N >= 1
(assert (! (>= N 1) :named kind.N))
; d >= 1
(assert (! (>= d 1) :named kind.d))
; y >= 0
(assert (! (>= y 0) :named hyp.0))
; y < d * N * g
(assert (! (< y (* (* d N) g)) :named hyp.1))
; COMPLEMENT_COVERS(d, N, g, y)
(assert (! (=> (and (>= d 1) (>= N 1) (>= y 0) (< y (* (* d N) g))) (and (<= 0 (mod y d)) (< (mod y d) d) (<= 0 (mod (div y d) N)) (< (mod (div y d) N) N) (<= 0 (div (div y d) N)) (< (div (div y d) N) g) (= y (+ (+ (mod y d) (* d (mod (div y d) N))) (* (* N d) (div (div y d) N)))))) :named hint.0))
; not: 0 <= y // d % N and y // d % N < N and 0 <= y % d and y % d < d and 0 <= y // d // N and y // d // N < g and y == y // d % N * d + y % d + y // d // N * (d * N)
(assert (not (and (<= 0 (mod (div y d) N)) (< (mod (div y d) N) N) (<= 0 (mod y d)) (< (mod y d) d) (<= 0 (div (div y d) N)) (< (div (div y d) N) g) (= y (+ (+ (* (mod (div y d) N) d) (mod y d)) (* (div (div y d) N) (* d N)))))))
(check-sat)
(pop 1)
