; COMPLEMENT_DISJOINT_ANY: at any rank: where (A, A*) is injective, A and A* share the value 0 only
; Cecka 2026, eq. 28
(set-logic ALL)
(push 1)
; COMPLEMENT_DISJOINT_ANY
(declare-fun A (Int) Int)
(declare-fun R (Int) Int)
(declare-fun left (Int) Int)
(declare-fun right (Int) Int)
(declare-const i Int)
(declare-const j Int)
; A(0) == 0
(assert (! (= (A 0) 0) :named hyp.0))
; R(0) == 0
(assert (! (= (R 0) 0) :named hyp.1))
; left(A(i) + R(0)) == i
(assert (! (= (left (+ (A i) (R 0))) i) :named hyp.2))
; right(A(i) + R(0)) == 0
(assert (! (= (right (+ (A i) (R 0))) 0) :named hyp.3))
; left(A(0) + R(j)) == 0
(assert (! (= (left (+ (A 0) (R j))) 0) :named hyp.4))
; right(A(0) + R(j)) == j
(assert (! (= (right (+ (A 0) (R j))) j) :named hyp.5))
; A(i) == R(j)
(assert (! (= (A i) (R j)) :named hyp.6))
; not: i == 0 and j == 0
(assert (not (and (= i 0) (= j 0))))
(check-sat)
(pop 1)
