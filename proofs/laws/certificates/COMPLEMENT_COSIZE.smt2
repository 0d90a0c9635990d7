; COMPLEMENT_COSIZE: A = N:d, cotarget T: cosize((A, A*)) >= T
; CuTe documentation; Shah 2024, 2.5 for the precondition at higher rank (N_i d_i divides d_{i+1})
(set-logic ALL)
(push 1)
; COMPLEMENT_COSIZE.cut0
(declare-const N Int)
(declare-const d Int)
(declare-const T Int)
; N >= 1
(assert (! (>= N 1) :named kind.N))
; d >= 1
(assert (! (>= d 1) :named kind.d))
; MONO(1, N, d)
(assert (! (=> (and (>= d 0) (<= 1 N)) (<= (* 1 d) (* N d))) :named hint.0))
; DIVDEF(N*d, T + N*d - 1)
(assert (! (=> (>= (* N d) 1) (and (= (- (+ T (* N d)) 1) (+ (mod (- (+ T (* N d)) 1) (* N d)) (* (* N d) (div (- (+ T (* N d)) 1) (* N d))))) (<= 0 (mod (- (+ T (* N d)) 1) (* N d))) (< (mod (- (+ T (* N d)) 1) (* N d)) (* N d)))) :named hint.1))
; not: N * d >= 1
(assert (not (>= (* N d) 1)))
(check-sat)
(pop 1)
(push 1)
; COMPLEMENT_COSIZE.cut1
(declare-const N Int)
(declare-const d Int)
(declare-const T Int)
; N >= 1
(assert (! (>= N 1) :named kind.N))
; d >= 1
(assert (! (>= d 1) :named kind.d))
; MONO(1, N, d)
(assert (! (=> (and (>= d 0) (<= 1 N)) (<= (* 1 d) (* N d))) :named hint.0))
; DIVDEF(N*d, T + N*d - 1)
(assert (! (=> (>= (* N d) 1) (and (= (- (+ T (* N d)) 1) (+ (mod (- (+ T (* N d)) 1) (* N d)) (* (* N d) (div (- (+ T (* N d)) 1) (* N d))))) (<= 0 (mod (- (+ T (* N d)) 1) (* N d))) (< (mod (- (+ T (* N d)) 1) (* N d)) (* N d)))) :named hint.1))
; cut 0: N * d >= 1
(assert (! (>= (* N d) 1) :named cut.0))
; not: 1 + (N - 1) * d + (d - 1) + ((T + N * d - 1) // (N * d) - 1) * (N * d) == N * d * ((T + N * d - 1) // (N * d))
(assert (not (= (+ (+ (+ 1 (* (- N 1) d)) (- d 1)) (* (- (div (- (+ T (* N d)) 1) (* N d)) 1) (* N d))) (* (* N d) (div (- (+ T (* N d)) 1) (* N d))))))
(check-sat)
(pop 1)
(push 1)
; COMPLEMENT_COSIZE
(declare-const N Int)
(declare-const d Int)
(declare-const T Int)
; N >= 1
(assert (! (>= N 1) :named kind.N))
; d >= 1
(assert (! (>= d 1) :named kind.d))
; MONO(1, N, d)
(assert (! (=> (and (>= d 0) (<= 1 N)) (<= (* 1 d) (* N d))) :named hint.0))
; DIVDEF(N*d, T + N*d - 1)
(assert (! (=> (>= (* N d) 1) (and (= (- (+ T (* N d)) 1) (+ (mod (- (+ T (* N d)) 1) (* N d)) (* (* N d) (div (- (+ T (* N d)) 1) (* N d))))) (<= 0 (mod (- (+ T (* N d)) 1) (* N d))) (< (mod (- (+ T (* N d)) 1) (* N d)) (* N d)))) :named hint.1))
; cut 0: N * d >= 1
(assert (! (>= (* N d) 1) :named cut.0))
; cut 1: 1 + (N - 1) * d + (d - 1) + ((T + N * d - 1) // (N * d) - 1) * (N * d) == N * d * ((T + N * d - 1) // (N * d))
(assert (! (= (+ (+ (+ 1 (* (- N 1) d)) (- d 1)) (* (- (div (- (+ T (* N d)) 1) (* N d)) 1) (* N d))) (* (* N d) (div (- (+ T (* N d)) 1) (* N d)))) :named cut.1))
; not: 1 + (N - 1) * d + (d - 1) + ((T + N * d - 1) // (N * d) - 1) * (N * d) >= T
(assert (not (>= (+ (+ (+ 1 (* (- N 1) d)) (- d 1)) (* (- (div (- (+ T (* N d)) 1) (* N d)) 1) (* N d))) T)))
(check-sat)
(pop 1)
