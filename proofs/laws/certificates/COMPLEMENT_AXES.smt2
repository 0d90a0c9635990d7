; COMPLEMENT_AXES: a cotarget of rank 2, each mode of A along one axis: complements axis by axis make (A, A*) one to one
; CuTe, include/cute/layout.hpp (strides E<0>, E<1>)
(set-logic ALL)
(push 1)
; COMPLEMENT_AXES
(declare-fun A (Int) Int)
(declare-fun B (Int) Int)
(declare-fun S (Int) Int)
(declare-fun T (Int) Int)
(declare-fun left (Int) Int)
(declare-fun right (Int) Int)
(declare-fun left1 (Int) Int)
(declare-fun right1 (Int) Int)
(declare-const i Int)
(declare-const j Int)
(declare-const p Int)
(declare-const q Int)
(declare-const i2 Int)
(declare-const j2 Int)
(declare-const p2 Int)
(declare-const q2 Int)
; left(A(i) + S(j)) == i
(assert (! (= (left (+ (A i) (S j))) i) :named hyp.0))
; right(A(i) + S(j)) == j
(assert (! (= (right (+ (A i) (S j))) j) :named hyp.1))
; left(A(i2) + S(j2)) == i2
(assert (! (= (left (+ (A i2) (S j2))) i2) :named hyp.2))
; right(A(i2) + S(j2)) == j2
(assert (! (= (right (+ (A i2) (S j2))) j2) :named hyp.3))
; left1(B(p) + T(q)) == p
(assert (! (= (left1 (+ (B p) (T q))) p) :named hyp.4))
; right1(B(p) + T(q)) == q
(assert (! (= (right1 (+ (B p) (T q))) q) :named hyp.5))
; left1(B(p2) + T(q2)) == p2
(assert (! (= (left1 (+ (B p2) (T q2))) p2) :named hyp.6))
; right1(B(p2) + T(q2)) == q2
(assert (! (= (right1 (+ (B p2) (T q2))) q2) :named hyp.7))
; A(i) + S(j) == A(i2) + S(j2)
(assert (! (= (+ (A i) (S j)) (+ (A i2) (S j2))) :named hyp.8))
; B(p) + T(q) == B(p2) + T(q2)
(assert (! (= (+ (B p) (T q)) (+ (B p2) (T q2))) :named hyp.9))
; not: i == i2 and j == j2 and p == p2 and q == q2
(assert (not (and (= i i2) (= j j2) (= p p2) (= q q2))))
(check-sat)
(pop 1)
