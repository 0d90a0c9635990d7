; NDIV: dividing twice is dividing by the product
; arithmetic; Cecka 2026, section 2.2
(set-logic ALL)
(push 1)
; NDIV
(declare-const a Int)
(declare-const b Int)
(declare-const x Int)
; a >= 1
(assert (! (>= a 1) :named kind.a))
; b >= 1
(assert (! (>= b 1) :named kind.b))
; MONO(1, a, b)
(assert (! (=> (and (>= b 0) (<= 1 a)) (<= (* 1 b) (* a b))) :named hint.0))
; DIVDEF(a*b, x)
(assert (! (=> (>= (* a b) 1) (and (= x (+ (mod x (* a b)) (* (* a b) (div x (* a b))))) (<= 0 (mod x (* a b))) (< (mod x (* a b)) (* a b)))) :named hint.1))
; SPLIT(a, b, x, x % (a*b), x // (a*b))
(assert (! (=> (and (>= a 1) (>= b 1) (>= (mod x (* a b)) 0) (< (mod x (* a b)) (* a b)) (= x (+ (mod x (* a b)) (* (* a b) (div x (* a b)))))) (and (= (div (div x a) b) (div x (* a b))) (= (mod (div x a) b) (div (mod x (* a b)) a)) (= (mod x a) (mod (mod x (* a b)) a)) (= (div x a) (+ (div (mod x (* a b)) a) (* b (div x (* a b))))))) :named hint.2))
; not: x // a // b == x // (a * b) and x // a % b == x % (a * b) // a and x % a == x % (a * b) % a
(assert (not (and (= (div (div x a) b) (div x (* a b))) (= (mod (div x a) b) (div (mod x (* a b)) a)) (= (mod x a) (mod (mod x (* a b)) a)))))
(check-sat)
(pop 1)
