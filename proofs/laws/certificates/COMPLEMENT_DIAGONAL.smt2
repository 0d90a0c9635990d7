; COMPLEMENT_DIAGONAL: a mode of A with a stride along two axes has no complement: where (A, A*) covers both axes and is one to one, the stride runs along one axis
; derived here; smallest: 2:(E<0> + E<1>) in (2, 2)
(set-logic ALL)
(push 1)
; COMPLEMENT_DIAGONAL.cut0
(declare-fun R (Int) Int)
(declare-fun S (Int) Int)
(declare-fun find (Int Int) Int)
(declare-const a Int)
(declare-const b Int)
(declare-const i Int)
(declare-const j Int)
(declare-const x Int)
(declare-const y Int)
(declare-const z Int)
; a >= 0
(assert (! (>= a 0) :named kind.a))
; b >= 0
(assert (! (>= b 0) :named kind.b))
; i >= 0
(assert (! (>= i 0) :named kind.i))
; j >= 0
(assert (! (>= j 0) :named kind.j))
; S(x) >= 0
(assert (! (>= (S x) 0) :named hyp.0))
; R(y) >= 0
(assert (! (>= (R y) 0) :named hyp.1))
; R(0) == 0
(assert (! (= (R 0) 0) :named hyp.2))
; S(0) == 0
(assert (! (= (S 0) 0) :named hyp.3))
; i * a + R(x) == a
(assert (! (= (+ (* i a) (R x)) a) :named hyp.4))
; i * b + S(x) == 0
(assert (! (= (+ (* i b) (S x)) 0) :named hyp.5))
; j * a + R(y) == 0
(assert (! (= (+ (* j a) (R y)) 0) :named hyp.6))
; j * b + S(y) == b
(assert (! (= (+ (* j b) (S y)) b) :named hyp.7))
; R(z) == R(x) + R(y)
(assert (! (= (R z) (+ (R x) (R y))) :named hyp.8))
; S(z) == S(x) + S(y)
(assert (! (= (S z) (+ (S x) (S y))) :named hyp.9))
; find(R(z), S(z)) == 0
(assert (! (= (find (R z) (S z)) 0) :named hyp.10))
; find(a + R(0), b + S(0)) == 1
(assert (! (= (find (+ a (R 0)) (+ b (S 0))) 1) :named hyp.11))
; MONO(1, i, b)
(assert (! (=> (and (>= b 0) (<= 1 i)) (<= (* 1 b) (* i b))) :named hint.0))
; MONO(1, j, a)
(assert (! (=> (and (>= a 0) (<= 1 j)) (<= (* 1 a) (* j a))) :named hint.1))
; not: a == 0 or b == 0 or i == 0 and j == 0
(assert (not (or (= a 0) (= b 0) (and (= i 0) (= j 0)))))
(check-sat)
(pop 1)
(push 1)
; COMPLEMENT_DIAGONAL
(declare-fun R (Int) Int)
(declare-fun S (Int) Int)
(declare-fun find (Int Int) Int)
(declare-const a Int)
(declare-const b Int)
(declare-const i Int)
(declare-const j Int)
(declare-const x Int)
(declare-const y Int)
(declare-const z Int)
; a >= 0
(assert (! (>= a 0) :named kind.a))
; b >= 0
(assert (! (>= b 0) :named kind.b))
; i >= 0
(assert (! (>= i 0) :named kind.i))
; j >= 0
(assert (! (>= j 0) :named kind.j))
; S(x) >= 0
(assert (! (>= (S x) 0) :named hyp.0))
; R(y) >= 0
(assert (! (>= (R y) 0) :named hyp.1))
; R(0) == 0
(assert (! (= (R 0) 0) :named hyp.2))
; S(0) == 0
(assert (! (= (S 0) 0) :named hyp.3))
; i * a + R(x) == a
(assert (! (= (+ (* i a) (R x)) a) :named hyp.4))
; i * b + S(x) == 0
(assert (! (= (+ (* i b) (S x)) 0) :named hyp.5))
; j * a + R(y) == 0
(assert (! (= (+ (* j a) (R y)) 0) :named hyp.6))
; j * b + S(y) == b
(assert (! (= (+ (* j b) (S y)) b) :named hyp.7))
; R(z) == R(x) + R(y)
(assert (! (= (R z) (+ (R x) (R y))) :named hyp.8))
; S(z) == S(x) + S(y)
(assert (! (= (S z) (+ (S x) (S y))) :named hyp.9))
; find(R(z), S(z)) == 0
(assert (! (= (find (R z) (S z)) 0) :named hyp.10))
; find(a + R(0), b + S(0)) == 1
(assert (! (= (find (+ a (R 0)) (+ b (S 0))) 1) :named hyp.11))
; MONO(1, i, b)
(assert (! (=> (and (>= b 0) (<= 1 i)) (<= (* 1 b) (* i b))) :named hint.0))
; MONO(1, j, a)
(assert (! (=> (and (>= a 0) (<= 1 j)) (<= (* 1 a) (* j a))) :named hint.1))
; cut 0: a == 0 or b == 0 or i == 0 and j == 0
(assert (! (or (= a 0) (= b 0) (and (= i 0) (= j 0))) :named cut.0))
; not: a == 0 or b == 0
(assert (not (or (= a 0) (= b 0))))
(check-sat)
(pop 1)
