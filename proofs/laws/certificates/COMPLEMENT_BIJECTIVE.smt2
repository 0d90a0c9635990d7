; COMPLEMENT_BIJECTIVE: step: (A, A*) stays injective when a gap g:K and a mode N:g*K are appended
; Shah 2024, 2.7; Cecka 2026, eq. 28-29
(set-logic ALL)
(push 1)
; COMPLEMENT_BIJECTIVE.cut0
(declare-const K Int)
(declare-const g Int)
(declare-const p Int)
(declare-const a Int)
(declare-const j Int)
(declare-const p2 Int)
(declare-const b Int)
(declare-const i Int)
; p >= 0
(assert (! (>= p 0) :named hyp.0))
; p < K
(assert (! (< p K) :named hyp.1))
; a >= 0
(assert (! (>= a 0) :named hyp.2))
; a < g
(assert (! (< a g) :named hyp.3))
; p2 >= 0
(assert (! (>= p2 0) :named hyp.4))
; p2 < K
(assert (! (< p2 K) :named hyp.5))
; b >= 0
(assert (! (>= b 0) :named hyp.6))
; b < g
(assert (! (< b g) :named hyp.7))
; p + K * a + g * K * j == p2 + K * b + g * K * i
(assert (! (= (+ (+ p (* K a)) (* (* g K) j)) (+ (+ p2 (* K b)) (* (* g K) i))) :named hyp.8))
; U(K, a + g*j, p, b + g*i, p2)
(assert (! (=> (and (>= p 0) (< p K) (>= p2 0) (< p2 K) (= (+ (* K (+ a (* g j))) p) (+ (* K (+ b (* g i))) p2))) (and (= (+ a (* g j)) (+ b (* g i))) (= p p2))) :named hint.0))
; U(g, j, a, i, b)
(assert (! (=> (and (>= a 0) (< a g) (>= b 0) (< b g) (= (+ (* g j) a) (+ (* g i) b))) (and (= j i) (= a b))) :named hint.1))
; not: p + K * (a + g * j) == p2 + K * (b + g * i)
(assert (not (= (+ p (* K (+ a (* g j)))) (+ p2 (* K (+ b (* g i)))))))
(check-sat)
(pop 1)
(push 1)
; COMPLEMENT_BIJECTIVE
(declare-const K Int)
(declare-const g Int)
(declare-const p Int)
(declare-const a Int)
(declare-const j Int)
(declare-const p2 Int)
(declare-const b Int)
(declare-const i Int)
; p >= 0
(assert (! (>= p 0) :named hyp.0))
; p < K
(assert (! (< p K) :named hyp.1))
; a >= 0
(assert (! (>= a 0) :named hyp.2))
; a < g
(assert (! (< a g) :named hyp.3))
; p2 >= 0
(assert (! (>= p2 0) :named hyp.4))
; p2 < K
(assert (! (< p2 K) :named hyp.5))
; b >= 0
(assert (! (>= b 0) :named hyp.6))
; b < g
(assert (! (< b g) :named hyp.7))
; p + K * a + g * K * j == p2 + K * b + g * K * i
(assert (! (= (+ (+ p (* K a)) (* (* g K) j)) (+ (+ p2 (* K b)) (* (* g K) i))) :named hyp.8))
; U(K, a + g*j, p, b + g*i, p2)
(assert (! (=> (and (>= p 0) (< p K) (>= p2 0) (< p2 K) (= (+ (* K (+ a (* g j))) p) (+ (* K (+ b (* g i))) p2))) (and (= (+ a (* g j)) (+ b (* g i))) (= p p2))) :named hint.0))
; U(g, j, a, i, b)
(assert (! (=> (and (>= a 0) (< a g) (>= b 0) (< b g) (= (+ (* g j) a) (+ (* g i) b))) (and (= j i) (= a b))) :named hint.1))
; cut 0: p + K * (a + g * j) == p2 + K * (b + g * i)
(assert (! (= (+ p (* K (+ a (* g j)))) (+ p2 (* K (+ b (* g i))))) :named cut.0))
; not: p == p2 and a == b and i == j
(assert (not (and (= p p2) (= a b) (= i j))))
(check-sat)
(pop 1)
