; PRODUCT_INJECTIVE: logical_product: A = N:d, any injective B: (A, A* o B) is injective
; Cecka 2026, 3.6; CuTe documentation
(set-logic ALL)
(push 1)
; PRODUCT_INJECTIVE.cut0
(declare-fun B (Int) Int)
(declare-fun inv (Int) Int)
(declare-const d Int)
(declare-const N Int)
(declare-const i Int)
(declare-const i2 Int)
(declare-const c Int)
(declare-const c2 Int)
; d >= 1
(assert (! (>= d 1) :named kind.d))
; i >= 0
(assert (! (>= i 0) :named hyp.0))
; i < N
(assert (! (< i N) :named hyp.1))
; i2 >= 0
(assert (! (>= i2 0) :named hyp.2))
; i2 < N
(assert (! (< i2 N) :named hyp.3))
; inv(B(c)) == c
(assert (! (= (inv (B c)) c) :named hyp.4))
; inv(B(c2)) == c2
(assert (! (= (inv (B c2)) c2) :named hyp.5))
; i * d + (B(c) % d + B(c) // d * (N * d)) == i2 * d + (B(c2) % d + B(c2) // d * (N * d))
(assert (! (= (+ (* i d) (+ (mod (B c) d) (* (div (B c) d) (* N d)))) (+ (* i2 d) (+ (mod (B c2) d) (* (div (B c2) d) (* N d))))) :named hyp.6))
; DIVDEF(d, B(c))
(assert (! (=> (>= d 1) (and (= (B c) (+ (mod (B c) d) (* d (div (B c) d)))) (<= 0 (mod (B c) d)) (< (mod (B c) d) d))) :named hint.0))
; DIVDEF(d, B(c2))
(assert (! (=> (>= d 1) (and (= (B c2) (+ (mod (B c2) d) (* d (div (B c2) d)))) (<= 0 (mod (B c2) d)) (< (mod (B c2) d) d))) :named hint.1))
; U(d, i + N*(B(c) // d), B(c) % d, i2 + N*(B(c2) // d), B(c2) % d)
(assert (! (=> (and (>= (mod (B c) d) 0) (< (mod (B c) d) d) (>= (mod (B c2) d) 0) (< (mod (B c2) d) d) (= (+ (* d (+ i (* N (div (B c) d)))) (mod (B c) d)) (+ (* d (+ i2 (* N (div (B c2) d)))) (mod (B c2) d)))) (and (= (+ i (* N (div (B c) d))) (+ i2 (* N (div (B c2) d)))) (= (mod (B c) d) (mod (B c2) d)))) :named hint.2))
; U(N, B(c) // d, i, B(c2) // d, i2)
(assert (! (=> (and (>= i 0) (< i N) (>= i2 0) (< i2 N) (= (+ (* N (div (B c) d)) i) (+ (* N (div (B c2) d)) i2))) (and (= (div (B c) d) (div (B c2) d)) (= i i2))) :named hint.3))
; not: d * (i + N * (B(c) // d)) + B(c) % d == d * (i2 + N * (B(c2) // d)) + B(c2) % d
(assert (not (= (+ (* d (+ i (* N (div (B c) d)))) (mod (B c) d)) (+ (* d (+ i2 (* N (div (B c2) d)))) (mod (B c2) d)))))
(check-sat)
(pop 1)
(push 1)
; PRODUCT_INJECTIVE.cut1
(declare-fun B (Int) Int)
(declare-fun inv (Int) Int)
(declare-const d Int)
(declare-const N Int)
(declare-const i Int)
(declare-const i2 Int)
(declare-const c Int)
(declare-const c2 Int)
; d >= 1
(assert (! (>= d 1) :named kind.d))
; i >= 0
(assert (! (>= i 0) :named hyp.0))
; i < N
(assert (! (< i N) :named hyp.1))
; i2 >= 0
(assert (! (>= i2 0) :named hyp.2))
; i2 < N
(assert (! (< i2 N) :named hyp.3))
; inv(B(c)) == c
(assert (! (= (inv (B c)) c) :named hyp.4))
; inv(B(c2)) == c2
(assert (! (= (inv (B c2)) c2) :named hyp.5))
; i * d + (B(c) % d + B(c) // d * (N * d)) == i2 * d + (B(c2) % d + B(c2) // d * (N * d))
(assert (! (= (+ (* i d) (+ (mod (B c) d) (* (div (B c) d) (* N d)))) (+ (* i2 d) (+ (mod (B c2) d) (* (div (B c2) d) (* N d))))) :named hyp.6))
; DIVDEF(d, B(c))
(assert (! (=> (>= d 1) (and (= (B c) (+ (mod (B c) d) (* d (div (B c) d)))) (<= 0 (mod (B c) d)) (< (mod (B c) d) d))) :named hint.0))
; DIVDEF(d, B(c2))
(assert (! (=> (>= d 1) (and (= (B c2) (+ (mod (B c2) d) (* d (div (B c2) d)))) (<= 0 (mod (B c2) d)) (< (mod (B c2) d) d))) :named hint.1))
; U(d, i + N*(B(c) // d), B(c) % d, i2 + N*(B(c2) // d), B(c2) % d)
(assert (! (=> (and (>= (mod (B c) d) 0) (< (mod (B c) d) d) (>= (mod (B c2) d) 0) (< (mod (B c2) d) d) (= (+ (* d (+ i (* N (div (B c) d)))) (mod (B c) d)) (+ (* d (+ i2 (* N (div (B c2) d)))) (mod (B c2) d)))) (and (= (+ i (* N (div (B c) d))) (+ i2 (* N (div (B c2) d)))) (= (mod (B c) d) (mod (B c2) d)))) :named hint.2))
; U(N, B(c) // d, i, B(c2) // d, i2)
(assert (! (=> (and (>= i 0) (< i N) (>= i2 0) (< i2 N) (= (+ (* N (div (B c) d)) i) (+ (* N (div (B c2) d)) i2))) (and (= (div (B c) d) (div (B c2) d)) (= i i2))) :named hint.3))
; cut 0: d * (i + N * (B(c) // d)) + B(c) % d == d * (i2 + N * (B(c2) // d)) + B(c2) % d
(assert (! (= (+ (* d (+ i (* N (div (B c) d)))) (mod (B c) d)) (+ (* d (+ i2 (* N (div (B c2) d)))) (mod (B c2) d))) :named cut.0))
; not: B(c) == B(c2)
(assert (not (= (B c) (B c2))))
(check-sat)
(pop 1)
(push 1)
; PRODUCT_INJECTIVE
(declare-fun B (Int) Int)
(declare-fun inv (Int) Int)
(declare-const d Int)
(declare-const N Int)
(declare-const i Int)
(declare-const i2 Int)
(declare-const c Int)
(declare-const c2 Int)
; d >= 1
(assert (! (>= d 1) :named kind.d))
; i >= 0
(assert (! (>= i 0) :named hyp.0))
; i < N
(assert (! (< i N) :named hyp.1))
; i2 >= 0
(assert (! (>= i2 0) :named hyp.2))
; i2 < N
(assert (! (< i2 N) :named hyp.3))
; inv(B(c)) == c
(assert (! (= (inv (B c)) c) :named hyp.4))
; inv(B(c2)) == c2
(assert (! (= (inv (B c2)) c2) :named hyp.5))
; i * d + (B(c) % d + B(c) // d * (N * d)) == i2 * d + (B(c2) % d + B(c2) // d * (N * d))
(assert (! (= (+ (* i d) (+ (mod (B c) d) (* (div (B c) d) (* N d)))) (+ (* i2 d) (+ (mod (B c2) d) (* (div (B c2) d) (* N d))))) :named hyp.6))
; DIVDEF(d, B(c))
(assert (! (=> (>= d 1) (and (= (B c) (+ (mod (B c) d) (* d (div (B c) d)))) (<= 0 (mod (B c) d)) (< (mod (B c) d) d))) :named hint.0))
; DIVDEF(d, B(c2))
(assert (! (=> (>= d 1) (and (= (B c2) (+ (mod (B c2) d) (* d (div (B c2) d)))) (<= 0 (mod (B c2) d)) (< (mod (B c2) d) d))) :named hint.1))
; U(d, i + N*(B(c) // d), B(c) % d, i2 + N*(B(c2) // d), B(c2) % d)
(assert (! (=> (and (>= (mod (B c) d) 0) (< (mod (B c) d) d) (>= (mod (B c2) d) 0) (< (mod (B c2) d) d) (= (+ (* d (+ i (* N (div (B c) d)))) (mod (B c) d)) (+ (* d (+ i2 (* N (div (B c2) d)))) (mod (B c2) d)))) (and (= (+ i (* N (div (B c) d))) (+ i2 (* N (div (B c2) d)))) (= (mod (B c) d) (mod (B c2) d)))) :named hint.2))
; U(N, B(c) // d, i, B(c2) // d, i2)
(assert (! (=> (and (>= i 0) (< i N) (>= i2 0) (< i2 N) (= (+ (* N (div (B c) d)) i) (+ (* N (div (B c2) d)) i2))) (and (= (div (B c) d) (div (B c2) d)) (= i i2))) :named hint.3))
; cut 0: d * (i + N * (B(c) // d)) + B(c) % d == d * (i2 + N * (B(c2) // d)) + B(c2) % d
(assert (! (= (+ (* d (+ i (* N (div (B c) d)))) (mod (B c) d)) (+ (* d (+ i2 (* N (div (B c2) d)))) (mod (B c2) d))) :named cut.0))
; cut 1: B(c) == B(c2)
(assert (! (= (B c) (B c2)) :named cut.1))
; not: i == i2 and c == c2
(assert (not (and (= i i2) (= c c2))))
(check-sat)
(pop 1)
