; COMPLEMENT_COSIZE_UPPER: A = N:d with N*d dividing T = N*d*q: cosize(A*) <= round_up(T, cosize(A))
; CUTLASS, test/unit/cute/core/complement.cpp
(set-logic ALL)
(push 1)
; COMPLEMENT_COSIZE_UPPER.cut0
(declare-const N Int)
(declare-const d Int)
(declare-const q Int)
(declare-const k Int)
; N >= 1
(assert (! (>= N 1) :named kind.N))
; d >= 1
(assert (! (>= d 1) :named kind.d))
; k * ((N - 1) * d + 1) >= N * d * q
(assert (! (>= (* k (+ (* (- N 1) d) 1)) (* (* N d) q)) :named hyp.0))
; MONO(1, N, d)
(assert (! (=> (and (>= d 0) (<= 1 N)) (<= (* 1 d) (* N d))) :named hint.0))
; not: 1 + (d - 1) + (q - 1) * (N * d) == N * d * q - (N * d - d)
(assert (not (= (+ (+ 1 (- d 1)) (* (- q 1) (* N d))) (- (* (* N d) q) (- (* N d) d)))))
(check-sat)
(pop 1)
(push 1)
; COMPLEMENT_COSIZE_UPPER
(declare-const N Int)
(declare-const d Int)
(declare-const q Int)
(declare-const k Int)
; N >= 1
(assert (! (>= N 1) :named kind.N))
; d >= 1
(assert (! (>= d 1) :named kind.d))
; k * ((N - 1) * d + 1) >= N * d * q
(assert (! (>= (* k (+ (* (- N 1) d) 1)) (* (* N d) q)) :named hyp.0))
; MONO(1, N, d)
(assert (! (=> (and (>= d 0) (<= 1 N)) (<= (* 1 d) (* N d))) :named hint.0))
; cut 0: 1 + (d - 1) + (q - 1) * (N * d) == N * d * q - (N * d - d)
(assert (! (= (+ (+ 1 (- d 1)) (* (- q 1) (* N d))) (- (* (* N d) q) (- (* N d) d))) :named cut.0))
; not: 1 + (d - 1) + (q - 1) * (N * d) <= k * ((N - 1) * d + 1)
(assert (not (<= (+ (+ 1 (- d 1)) (* (- q 1) (* N d))) (* k (+ (* (- N 1) d) 1)))))
(check-sat)
(pop 1)
