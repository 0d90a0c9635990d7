; MODE_DIGIT: an index whose digit in a mode is 0 can be given the digit c there, and nothing else changes
; derived here
(set-logic ALL)
(push 1)
; MODE_DIGIT
(declare-fun lo (Int) Int)
(declare-fun hi (Int) Int)
(declare-const p Int)
(declare-const s Int)
(declare-const d Int)
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; p >= 1
(assert (! (>= p 1) :named kind.p))
; s >= 1
(assert (! (>= s 1) :named kind.s))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < p
(assert (! (< a p) :named hyp.1))
; c >= 0
(assert (! (>= c 0) :named hyp.2))
; c < s
(assert (! (< c s) :named hyp.3))
; DIGITS3(p, s, a + p*c + (p*s)*b, b, c, a)
(assert (! (=> (and (>= p 1) (>= s 1) (>= a 0) (< a p) (>= c 0) (< c s) (= (+ (+ a (* p c)) (* (* p s) b)) (+ (+ a (* p c)) (* (* p s) b)))) (and (= (mod (+ (+ a (* p c)) (* (* p s) b)) p) a) (= (div (+ (+ a (* p c)) (* (* p s) b)) p) (+ c (* s b))) (= (div (div (+ (+ a (* p c)) (* (* p s) b)) p) s) b) (= (mod (div (+ (+ a (* p c)) (* (* p s) b)) p) s) c))) :named hint.0))
; not: lo((a + p * c + p * s * b) % p) + (a + p * c + p * s * b) // p % s * d + hi((a + p * c + p * s * b) // p // s) == lo(a) + c * d + hi(b)
(assert (not (= (+ (+ (lo (mod (+ (+ a (* p c)) (* (* p s) b)) p)) (* (mod (div (+ (+ a (* p c)) (* (* p s) b)) p) s) d)) (hi (div (div (+ (+ a (* p c)) (* (* p s) b)) p) s))) (+ (+ (lo a) (* c d)) (hi b)))))
(check-sat)
(pop 1)
