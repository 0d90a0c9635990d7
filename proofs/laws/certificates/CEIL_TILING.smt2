; CEIL_TILING: ceil(M/T) tiles of T with the predicate q*T + r < M visit every m in [0, M) once
; CuTe documentation, predication
(set-logic ALL)
(push 1)
; CEIL_TILING.cut0
(declare-const T Int)
(declare-const M Int)
(declare-const m Int)
(declare-const q Int)
(declare-const r Int)
; T >= 1
(assert (! (>= T 1) :named kind.T))
; m >= 0
(assert (! (>= m 0) :named hyp.0))
; m < M
(assert (! (< m M) :named hyp.1))
; r >= 0
(assert (! (>= r 0) :named hyp.2))
; r < T
(assert (! (< r T) :named hyp.3))
; m == q * T + r
(assert (! (= m (+ (* q T) r)) :named hyp.4))
; DM(T, m, r, q)
(assert (! (=> (and (>= T 1) (>= r 0) (< r T) (= m (+ r (* T q)))) (and (= (mod m T) r) (= (div m T) q))) :named hint.0))
; NONNEG(T, m)
(assert (! (=> (and (>= T 1) (>= m 0)) (and (>= (div m T) 0) (<= (div m T) m))) :named hint.1))
; DIVDEF(T, M + T - 1)
(assert (! (=> (>= T 1) (and (= (- (+ M T) 1) (+ (mod (- (+ M T) 1) T) (* T (div (- (+ M T) 1) T)))) (<= 0 (mod (- (+ M T) 1) T)) (< (mod (- (+ M T) 1) T) T))) :named hint.2))
; DIVDEF(T, m)
(assert (! (=> (>= T 1) (and (= m (+ (mod m T) (* T (div m T)))) (<= 0 (mod m T)) (< (mod m T) T))) :named hint.3))
; not: q == m // T and r == m % T
(assert (not (and (= q (div m T)) (= r (mod m T)))))
(check-sat)
(pop 1)
(push 1)
; CEIL_TILING.cut1
(declare-const T Int)
(declare-const M Int)
(declare-const m Int)
(declare-const q Int)
(declare-const r Int)
; T >= 1
(assert (! (>= T 1) :named kind.T))
; m >= 0
(assert (! (>= m 0) :named hyp.0))
; m < M
(assert (! (< m M) :named hyp.1))
; r >= 0
(assert (! (>= r 0) :named hyp.2))
; r < T
(assert (! (< r T) :named hyp.3))
; m == q * T + r
(assert (! (= m (+ (* q T) r)) :named hyp.4))
; DM(T, m, r, q)
(assert (! (=> (and (>= T 1) (>= r 0) (< r T) (= m (+ r (* T q)))) (and (= (mod m T) r) (= (div m T) q))) :named hint.0))
; NONNEG(T, m)
(assert (! (=> (and (>= T 1) (>= m 0)) (and (>= (div m T) 0) (<= (div m T) m))) :named hint.1))
; DIVDEF(T, M + T - 1)
(assert (! (=> (>= T 1) (and (= (- (+ M T) 1) (+ (mod (- (+ M T) 1) T) (* T (div (- (+ M T) 1) T)))) (<= 0 (mod (- (+ M T) 1) T)) (< (mod (- (+ M T) 1) T) T))) :named hint.2))
; DIVDEF(T, m)
(assert (! (=> (>= T 1) (and (= m (+ (mod m T) (* T (div m T)))) (<= 0 (mod m T)) (< (mod m T) T))) :named hint.3))
; cut 0: q == m // T and r == m % T
(assert (! (and (= q (div m T)) (= r (mod m T))) :named cut.0))
; not: q >= 0
(assert (not (>= q 0)))
(check-sat)
(pop 1)
(push 1)
; CEIL_TILING.cut2
(declare-const T Int)
(declare-const M Int)
(declare-const m Int)
(declare-const q Int)
(declare-const r Int)
; T >= 1
(assert (! (>= T 1) :named kind.T))
; m >= 0
(assert (! (>= m 0) :named hyp.0))
; m < M
(assert (! (< m M) :named hyp.1))
; r >= 0
(assert (! (>= r 0) :named hyp.2))
; r < T
(assert (! (< r T) :named hyp.3))
; m == q * T + r
(assert (! (= m (+ (* q T) r)) :named hyp.4))
; DM(T, m, r, q)
(assert (! (=> (and (>= T 1) (>= r 0) (< r T) (= m (+ r (* T q)))) (and (= (mod m T) r) (= (div m T) q))) :named hint.0))
; NONNEG(T, m)
(assert (! (=> (and (>= T 1) (>= m 0)) (and (>= (div m T) 0) (<= (div m T) m))) :named hint.1))
; DIVDEF(T, M + T - 1)
(assert (! (=> (>= T 1) (and (= (- (+ M T) 1) (+ (mod (- (+ M T) 1) T) (* T (div (- (+ M T) 1) T)))) (<= 0 (mod (- (+ M T) 1) T)) (< (mod (- (+ M T) 1) T) T))) :named hint.2))
; DIVDEF(T, m)
(assert (! (=> (>= T 1) (and (= m (+ (mod m T) (* T (div m T)))) (<= 0 (mod m T)) (< (mod m T) T))) :named hint.3))
; cut 0: q == m // T and r == m % T
(assert (! (and (= q (div m T)) (= r (mod m T))) :named cut.0))
; cut 1: q >= 0
(assert (! (>= q 0) :named cut.1))
; not: implies(q >= (M + T - 1) // T, T * q >= T * ((M + T - 1) // T))
(assert (not (=> (>= q (div (- (+ M T) 1) T)) (>= (* T q) (* T (div (- (+ M T) 1) T))))))
(check-sat)
(pop 1)
(push 1)
; CEIL_TILING
(declare-const T Int)
(declare-const M Int)
(declare-const m Int)
(declare-const q Int)
(declare-const r Int)
; T >= 1
(assert (! (>= T 1) :named kind.T))
; m >= 0
(assert (! (>= m 0) :named hyp.0))
; m < M
(assert (! (< m M) :named hyp.1))
; r >= 0
(assert (! (>= r 0) :named hyp.2))
; r < T
(assert (! (< r T) :named hyp.3))
; m == q * T + r
(assert (! (= m (+ (* q T) r)) :named hyp.4))
; DM(T, m, r, q)
(assert (! (=> (and (>= T 1) (>= r 0) (< r T) (= m (+ r (* T q)))) (and (= (mod m T) r) (= (div m T) q))) :named hint.0))
; NONNEG(T, m)
(assert (! (=> (and (>= T 1) (>= m 0)) (and (>= (div m T) 0) (<= (div m T) m))) :named hint.1))
; DIVDEF(T, M + T - 1)
(assert (! (=> (>= T 1) (and (= (- (+ M T) 1) (+ (mod (- (+ M T) 1) T) (* T (div (- (+ M T) 1) T)))) (<= 0 (mod (- (+ M T) 1) T)) (< (mod (- (+ M T) 1) T) T))) :named hint.2))
; DIVDEF(T, m)
(assert (! (=> (>= T 1) (and (= m (+ (mod m T) (* T (div m T)))) (<= 0 (mod m T)) (< (mod m T) T))) :named hint.3))
; cut 0: q == m // T and r == m % T
(assert (! (and (= q (div m T)) (= r (mod m T))) :named cut.0))
; cut 1: q >= 0
(assert (! (>= q 0) :named cut.1))
; cut 2: implies(q >= (M + T - 1) // T, T * q >= T * ((M + T - 1) // T))
(assert (! (=> (>= q (div (- (+ M T) 1) T)) (>= (* T q) (* T (div (- (+ M T) 1) T)))) :named cut.2))
; not: q == m // T and r == m % T and 0 <= q and q < (M + T - 1) // T
(assert (not (and (= q (div m T)) (= r (mod m T)) (<= 0 q) (< q (div (- (+ M T) 1) T)))))
(check-sat)
(pop 1)
