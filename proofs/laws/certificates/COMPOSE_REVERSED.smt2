; COMPOSE_REVERSED: a mode of B with a negative stride and the offset that keeps it inside A: A o B is the mode reversed, with an offset of its own
; derived here
(set-logic ALL)
(push 1)
; COMPOSE_REVERSED.cut0
(declare-fun A (Int) Int)
(declare-const c Int)
(declare-const r Int)
(declare-const N Int)
(declare-const v Int)
(declare-const k Int)
; k >= 0
(assert (! (>= k 0) :named hyp.0))
; k < N
(assert (! (< k N) :named hyp.1))
; implies(0 <= N - 1 - k and N - 1 - k < N, A(c + r * (N - 1 - k)) == A(c) + (N - 1 - k) * v)
(assert (! (=> (and (<= 0 (- (- N 1) k)) (< (- (- N 1) k) N)) (= (A (+ c (* r (- (- N 1) k)))) (+ (A c) (* (- (- N 1) k) v)))) :named hyp.2))
; not: c + r * (N - 1) + k * -r == c + r * (N - 1 - k)
(assert (not (= (+ (+ c (* r (- N 1))) (* k (- r))) (+ c (* r (- (- N 1) k))))))
(check-sat)
(pop 1)
(push 1)
; COMPOSE_REVERSED.cut1
(declare-fun A (Int) Int)
(declare-const c Int)
(declare-const r Int)
(declare-const N Int)
(declare-const v Int)
(declare-const k Int)
; k >= 0
(assert (! (>= k 0) :named hyp.0))
; k < N
(assert (! (< k N) :named hyp.1))
; implies(0 <= N - 1 - k and N - 1 - k < N, A(c + r * (N - 1 - k)) == A(c) + (N - 1 - k) * v)
(assert (! (=> (and (<= 0 (- (- N 1) k)) (< (- (- N 1) k) N)) (= (A (+ c (* r (- (- N 1) k)))) (+ (A c) (* (- (- N 1) k) v)))) :named hyp.2))
; cut 0: c + r * (N - 1) + k * -r == c + r * (N - 1 - k)
(assert (! (= (+ (+ c (* r (- N 1))) (* k (- r))) (+ c (* r (- (- N 1) k)))) :named cut.0))
; not: (N - 1 - k) * v == (N - 1) * v + k * -v
(assert (not (= (* (- (- N 1) k) v) (+ (* (- N 1) v) (* k (- v))))))
(check-sat)
(pop 1)
(push 1)
; COMPOSE_REVERSED
(declare-fun A (Int) Int)
(declare-const c Int)
(declare-const r Int)
(declare-const N Int)
(declare-const v Int)
(declare-const k Int)
; k >= 0
(assert (! (>= k 0) :named hyp.0))
; k < N
(assert (! (< k N) :named hyp.1))
; implies(0 <= N - 1 - k and N - 1 - k < N, A(c + r * (N - 1 - k)) == A(c) + (N - 1 - k) * v)
(assert (! (=> (and (<= 0 (- (- N 1) k)) (< (- (- N 1) k) N)) (= (A (+ c (* r (- (- N 1) k)))) (+ (A c) (* (- (- N 1) k) v)))) :named hyp.2))
; cut 0: c + r * (N - 1) + k * -r == c + r * (N - 1 - k)
(assert (! (= (+ (+ c (* r (- N 1))) (* k (- r))) (+ c (* r (- (- N 1) k)))) :named cut.0))
; cut 1: (N - 1 - k) * v == (N - 1) * v + k * -v
(assert (! (= (* (- (- N 1) k) v) (+ (* (- N 1) v) (* k (- v)))) :named cut.1))
; not: A(c + r * (N - 1) + k * -r) == A(c) + (N - 1) * v + k * -v
(assert (not (= (A (+ (+ c (* r (- N 1))) (* k (- r)))) (+ (+ (A c) (* (- N 1) v)) (* k (- v))))))
(check-sat)
(pop 1)
