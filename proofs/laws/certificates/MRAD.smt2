; MRAD: a remainder modulo a product has two digits
; arithmetic; Cecka 2026, section 2.2
(set-logic ALL)
(push 1)
; MRAD.cut0
(declare-const a Int)
(declare-const b Int)
(declare-const x Int)
; a >= 1
(assert (! (>= a 1) :named kind.a))
; b >= 1
(assert (! (>= b 1) :named kind.b))
; NDIV(a, b, x)
(assert (! (=> (and (>= a 1) (>= b 1)) (and (= (div (div x a) b) (div x (* a b))) (= (mod (div x a) b) (div (mod x (* a b)) a)) (= (mod x a) (mod (mod x (* a b)) a)))) :named hint.0))
; MONO(1, a, b)
(assert (! (=> (and (>= b 0) (<= 1 a)) (<= (* 1 b) (* a b))) :named hint.1))
; DIVDEF(a, x % (a*b))
(assert (! (=> (>= a 1) (and (= (mod x (* a b)) (+ (mod (mod x (* a b)) a) (* a (div (mod x (* a b)) a)))) (<= 0 (mod (mod x (* a b)) a)) (< (mod (mod x (* a b)) a) a))) :named hint.2))
; not: a * b >= 1
(assert (not (>= (* a b) 1)))
(check-sat)
(pop 1)
(push 1)
; MRAD
(declare-const a Int)
(declare-const b Int)
(declare-const x Int)
; a >= 1
(assert (! (>= a 1) :named kind.a))
; b >= 1
(assert (! (>= b 1) :named kind.b))
; NDIV(a, b, x)
(assert (! (=> (and (>= a 1) (>= b 1)) (and (= (div (div x a) b) (div x (* a b))) (= (mod (div x a) b) (div (mod x (* a b)) a)) (= (mod x a) (mod (mod x (* a b)) a)))) :named hint.0))
; MONO(1, a, b)
(assert (! (=> (and (>= b 0) (<= 1 a)) (<= (* 1 b) (* a b))) :named hint.1))
; DIVDEF(a, x % (a*b))
(assert (! (=> (>= a 1) (and (= (mod x (* a b)) (+ (mod (mod x (* a b)) a) (* a (div (mod x (* a b)) a)))) (<= 0 (mod (mod x (* a b)) a)) (< (mod (mod x (* a b)) a) a))) :named hint.2))
; cut 0: a * b >= 1
(assert (! (>= (* a b) 1) :named cut.0))
; not: x % (a * b) == x % a + a * (x // a % b)
(assert (not (= (mod x (* a b)) (+ (mod x a) (* a (mod (div x a) b))))))
(check-sat)
(pop 1)
