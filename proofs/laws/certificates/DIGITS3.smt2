; DIGITS3: three digits are found by dividing twice
; arithmetic
(set-logic ALL)
(push 1)
; DIGITS3.cut0
(declare-const a Int)
(declare-const b Int)
(declare-const x Int)
(declare-const q Int)
(declare-const v Int)
(declare-const w Int)
; a >= 1
(assert (! (>= a 1) :named kind.a))
; b >= 1
(assert (! (>= b 1) :named kind.b))
; w >= 0
(assert (! (>= w 0) :named hyp.0))
; w < a
(assert (! (< w a) :named hyp.1))
; v >= 0
(assert (! (>= v 0) :named hyp.2))
; v < b
(assert (! (< v b) :named hyp.3))
; x == w + a * v + a * b * q
(assert (! (= x (+ (+ w (* a v)) (* (* a b) q))) :named hyp.4))
; DM(a, x, w, v + b*q)
(assert (! (=> (and (>= a 1) (>= w 0) (< w a) (= x (+ w (* a (+ v (* b q)))))) (and (= (mod x a) w) (= (div x a) (+ v (* b q))))) :named hint.0))
; DM(b, x // a, v, q)
(assert (! (=> (and (>= b 1) (>= v 0) (< v b) (= (div x a) (+ v (* b q)))) (and (= (mod (div x a) b) v) (= (div (div x a) b) q))) :named hint.1))
; not: x == w + a * (v + b * q)
(assert (not (= x (+ w (* a (+ v (* b q)))))))
(check-sat)
(pop 1)
(push 1)
; DIGITS3
(declare-const a Int)
(declare-const b Int)
(declare-const x Int)
(declare-const q Int)
(declare-const v Int)
(declare-const w Int)
; a >= 1
(assert (! (>= a 1) :named kind.a))
; b >= 1
(assert (! (>= b 1) :named kind.b))
; w >= 0
(assert (! (>= w 0) :named hyp.0))
; w < a
(assert (! (< w a) :named hyp.1))
; v >= 0
(assert (! (>= v 0) :named hyp.2))
; v < b
(assert (! (< v b) :named hyp.3))
; x == w + a * v + a * b * q
(assert (! (= x (+ (+ w (* a v)) (* (* a b) q))) :named hyp.4))
; DM(a, x, w, v + b*q)
(assert (! (=> (and (>= a 1) (>= w 0) (< w a) (= x (+ w (* a (+ v (* b q)))))) (and (= (mod x a) w) (= (div x a) (+ v (* b q))))) :named hint.0))
; DM(b, x // a, v, q)
(assert (! (=> (and (>= b 1) (>= v 0) (< v b) (= (div x a) (+ v (* b q)))) (and (= (mod (div x a) b) v) (= (div (div x a) b) q))) :named hint.1))
; cut 0: x == w + a * (v + b * q)
(assert (! (= x (+ w (* a (+ v (* b q))))) :named cut.0))
; not: x % a == w and x // a == v + b * q and x // a // b == q and x // a % b == v
(assert (not (and (= (mod x a) w) (= (div x a) (+ v (* b q))) (= (div (div x a) b) q) (= (mod (div x a) b) v))))
(check-sat)
(pop 1)
