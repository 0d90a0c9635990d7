; CARRY_BREAKS_FIRST: two summands that carry in the first mode, strides (1, 0): A(x+y) is smaller than A(x) + A(y)
; derived here
(set-logic ALL)
(push 1)
; CARRY_BREAKS_FIRST
(declare-const M Int)
(declare-const x Int)
(declare-const y Int)
; M >= 1
(assert (! (>= M 1) :named kind.M))
; x % M + y % M >= M
(assert (! (>= (+ (mod x M) (mod y M)) M) :named hyp.0))
; DIVDEF(M, x + y)
(assert (! (=> (>= M 1) (and (= (+ x y) (+ (mod (+ x y) M) (* M (div (+ x y) M)))) (<= 0 (mod (+ x y) M)) (< (mod (+ x y) M) M))) :named hint.0))
; not: (x + y) % M < x % M + y % M
(assert (not (< (mod (+ x y) M) (+ (mod x M) (mod y M)))))
(check-sat)
(pop 1)
