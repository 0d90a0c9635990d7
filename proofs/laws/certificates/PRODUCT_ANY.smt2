; PRODUCT_ANY: logical_product of any A and any injective B: (A, A* o B) is injective
; Cecka 2026, 3.6
(set-logic ALL)
(push 1)
; PRODUCT_ANY
(declare-fun A (Int) Int)
(declare-fun S (Int) Int)
(declare-fun B (Int) Int)
(declare-fun left (Int) Int)
(declare-fun right (Int) Int)
(declare-fun inv (Int) Int)
(declare-const i Int)
(declare-const i2 Int)
(declare-const c Int)
(declare-const c2 Int)
; left(A(i) + S(B(c))) == i
(assert (! (= (left (+ (A i) (S (B c)))) i) :named hyp.0))
; left(A(i2) + S(B(c2))) == i2
(assert (! (= (left (+ (A i2) (S (B c2)))) i2) :named hyp.1))
; right(A(i) + S(B(c))) == B(c)
(assert (! (= (right (+ (A i) (S (B c)))) (B c)) :named hyp.2))
; right(A(i2) + S(B(c2))) == B(c2)
(assert (! (= (right (+ (A i2) (S (B c2)))) (B c2)) :named hyp.3))
; inv(B(c)) == c
(assert (! (= (inv (B c)) c) :named hyp.4))
; inv(B(c2)) == c2
(assert (! (= (inv (B c2)) c2) :named hyp.5))
; A(i) + S(B(c)) == A(i2) + S(B(c2))
(assert (! (= (+ (A i) (S (B c))) (+ (A i2) (S (B c2)))) :named hyp.6))
; not: i == i2 and c == c2
(assert (not (and (= i i2) (= c c2))))
(check-sat)
(pop 1)
