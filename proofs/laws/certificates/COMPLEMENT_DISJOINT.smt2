; COMPLEMENT_DISJOINT: A = N:d: A* takes no value of A but 0
; Cecka 2026, eq. 28; CuTe documentation
(set-logic ALL)
(push 1)
; COMPLEMENT_DISJOINT.cut0
(declare-const d Int)
(declare-const N Int)
(declare-const i Int)
(declare-const j Int)
; d >= 1
(assert (! (>= d 1) :named kind.d))
; N >= 1
(assert (! (>= N 1) :named kind.N))
; i >= 1
(assert (! (>= i 1) :named hyp.0))
; j < N
(assert (! (< j N) :named hyp.1))
; DIVDEF(d, i)
(assert (! (=> (>= d 1) (and (= i (+ (mod i d) (* d (div i d)))) (<= 0 (mod i d)) (< (mod i d) d))) :named hint.0))
; NONNEG(d, i)
(assert (! (=> (and (>= d 1) (>= i 0)) (and (>= (div i d) 0) (<= (div i d) i))) :named hint.1))
; U(d, j, 0, N*(i // d), i % d)
(assert (! (=> (and (>= 0 0) (< 0 d) (>= (mod i d) 0) (< (mod i d) d) (= (+ (* d j) 0) (+ (* d (* N (div i d))) (mod i d)))) (and (= j (* N (div i d))) (= 0 (mod i d)))) :named hint.2))
; MONO(1, i // d, N)
(assert (! (=> (and (>= N 0) (<= 1 (div i d))) (<= (* 1 N) (* (div i d) N))) :named hint.3))
; not: i % d + i // d * (N * d) == d * (N * (i // d)) + i % d
(assert (not (= (+ (mod i d) (* (div i d) (* N d))) (+ (* d (* N (div i d))) (mod i d)))))
(check-sat)
(pop 1)
(push 1)
; COMPLEMENT_DISJOINT
(declare-const d Int)
(declare-const N Int)
(declare-const i Int)
(declare-const j Int)
; d >= 1
(assert (! (>= d 1) :named kind.d))
; N >= 1
(assert (! (>= N 1) :named kind.N))
; i >= 1
(assert (! (>= i 1) :named hyp.0))
; j < N
(assert (! (< j N) :named hyp.1))
; DIVDEF(d, i)
(assert (! (=> (>= d 1) (and (= i (+ (mod i d) (* d (div i d)))) (<= 0 (mod i d)) (< (mod i d) d))) :named hint.0))
; NONNEG(d, i)
(assert (! (=> (and (>= d 1) (>= i 0)) (and (>= (div i d) 0) (<= (div i d) i))) :named hint.1))
; U(d, j, 0, N*(i // d), i % d)
(assert (! (=> (and (>= 0 0) (< 0 d) (>= (mod i d) 0) (< (mod i d) d) (= (+ (* d j) 0) (+ (* d (* N (div i d))) (mod i d)))) (and (= j (* N (div i d))) (= 0 (mod i d)))) :named hint.2))
; MONO(1, i // d, N)
(assert (! (=> (and (>= N 0) (<= 1 (div i d))) (<= (* 1 N) (* (div i d) N))) :named hint.3))
; cut 0: i % d + i // d * (N * d) == d * (N * (i // d)) + i % d
(assert (! (= (+ (mod i d) (* (div i d) (* N d))) (+ (* d (* N (div i d))) (mod i d))) :named cut.0))
; not: i % d + i // d * (N * d) != j * d
(assert (not (distinct (+ (mod i d) (* (div i d) (* N d))) (* j d))))
(check-sat)
(pop 1)
