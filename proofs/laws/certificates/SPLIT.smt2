; SPLIT: a number below a*b splits into two digits, and what is above them stays
; arithmetic
(set-logic ALL)
(push 1)
; SPLIT
(declare-const a Int)
(declare-const b Int)
(declare-const x Int)
(declare-const y Int)
(declare-const q Int)
; a >= 1
(assert (! (>= a 1) :named kind.a))
; b >= 1
(assert (! (>= b 1) :named kind.b))
; y >= 0
(assert (! (>= y 0) :named hyp.0))
; y < a * b
(assert (! (< y (* a b)) :named hyp.1))
; x == y + a * b * q
(assert (! (= x (+ y (* (* a b) q))) :named hyp.2))
; LTD(a, b, y)
(assert (! (=> (and (>= a 1) (< y (* a b))) (< (div y a) b)) :named hint.0))
; DIVDEF(a, y)
(assert (! (=> (>= a 1) (and (= y (+ (mod y a) (* a (div y a)))) (<= 0 (mod y a)) (< (mod y a) a))) :named hint.1))
; MONO(0, y // a, a)
(assert (! (=> (and (>= a 0) (<= 0 (div y a))) (<= (* 0 a) (* (div y a) a))) :named hint.2))
; DIGITS3(a, b, x, q, y // a, y % a)
(assert (! (=> (and (>= a 1) (>= b 1) (>= (mod y a) 0) (< (mod y a) a) (>= (div y a) 0) (< (div y a) b) (= x (+ (+ (mod y a) (* a (div y a))) (* (* a b) q)))) (and (= (mod x a) (mod y a)) (= (div x a) (+ (div y a) (* b q))) (= (div (div x a) b) q) (= (mod (div x a) b) (div y a)))) :named hint.3))
; not: x // a // b == q and x // a % b == y // a and x % a == y % a and x // a == y // a + b * q
(assert (not (and (= (div (div x a) b) q) (= (mod (div x a) b) (div y a)) (= (mod x a) (mod y a)) (= (div x a) (+ (div y a) (* b q))))))
(check-sat)
(pop 1)
