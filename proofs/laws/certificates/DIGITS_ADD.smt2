; DIGITS_ADD: digits add when they do not carry
; arithmetic
(set-logic ALL)
(push 1)
; DIGITS_ADD
(declare-const M Int)
(declare-const x Int)
(declare-const y Int)
; M >= 1
(assert (! (>= M 1) :named kind.M))
; x % M + y % M < M
(assert (! (< (+ (mod x M) (mod y M)) M) :named hyp.0))
; DIVDEF(M, x)
(assert (! (=> (>= M 1) (and (= x (+ (mod x M) (* M (div x M)))) (<= 0 (mod x M)) (< (mod x M) M))) :named hint.0))
; DIVDEF(M, y)
(assert (! (=> (>= M 1) (and (= y (+ (mod y M) (* M (div y M)))) (<= 0 (mod y M)) (< (mod y M) M))) :named hint.1))
; DM(M, x + y, x % M + y % M, x // M + y // M)
(assert (! (=> (and (>= M 1) (>= (+ (mod x M) (mod y M)) 0) (< (+ (mod x M) (mod y M)) M) (= (+ x y) (+ (+ (mod x M) (mod y M)) (* M (+ (div x M) (div y M)))))) (and (= (mod (+ x y) M) (+ (mod x M) (mod y M))) (= (div (+ x y) M) (+ (div x M) (div y M))))) :named hint.2))
; not: (x + y) % M == x % M + y % M and (x + y) // M == x // M + y // M
(assert (not (and (= (mod (+ x y) M) (+ (mod x M) (mod y M))) (= (div (+ x y) M) (+ (div x M) (div y M))))))
(check-sat)
(pop 1)
