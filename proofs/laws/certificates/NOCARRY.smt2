; NOCARRY: step: no carry in the first mode, and the rest distributes: then A distributes
; derived here; the condition that Shah 2024 Thm 2.18 and the CuTe documentation lack
(set-logic ALL)
(push 1)
; NOCARRY
(declare-fun f (Int) Int)
(declare-const M Int)
(declare-const d Int)
(declare-const x Int)
(declare-const y Int)
; M >= 1
(assert (! (>= M 1) :named kind.M))
; x % M + y % M < M
(assert (! (< (+ (mod x M) (mod y M)) M) :named hyp.0))
; f(x // M + y // M) == f(x // M) + f(y // M)
(assert (! (= (f (+ (div x M) (div y M))) (+ (f (div x M)) (f (div y M)))) :named hyp.1))
; DIGITS_ADD(M, x, y)
(assert (! (=> (and (>= M 1) (< (+ (mod x M) (mod y M)) M)) (and (= (mod (+ x y) M) (+ (mod x M) (mod y M))) (= (div (+ x y) M) (+ (div x M) (div y M))))) :named hint.0))
; not: (x + y) % M * d + f((x + y) // M) == x % M * d + f(x // M) + (y % M * d + f(y // M))
(assert (not (= (+ (* (mod (+ x y) M) d) (f (div (+ x y) M))) (+ (+ (* (mod x M) d) (f (div x M))) (+ (* (mod y M) d) (f (div y M)))))))
(check-sat)
(pop 1)
