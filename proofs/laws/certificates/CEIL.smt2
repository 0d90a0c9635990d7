; CEIL: rounding up, as -(-x / P) or as (x + P - 1) / P: the least k with P k >= x
; arithmetic; layouts.compose and layouts.complement round so, CUTLASS's ceil_div as the second
(set-logic ALL)
(push 1)
; CEIL
(declare-const P Int)
(declare-const x Int)
(declare-const k Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; DIVDEF(P, 0 - x)
(assert (! (=> (>= P 1) (and (= (- 0 x) (+ (mod (- 0 x) P) (* P (div (- 0 x) P)))) (<= 0 (mod (- 0 x) P)) (< (mod (- 0 x) P) P))) :named hint.0))
; DM(P, x + P - 1, P - 1 - (0 - x) % P, up(x))
(assert (! (=> (and (>= P 1) (>= (- (- P 1) (mod (- 0 x) P)) 0) (< (- (- P 1) (mod (- 0 x) P)) P) (= (- (+ x P) 1) (+ (- (- P 1) (mod (- 0 x) P)) (* P (- 0 (div (- 0 x) P)))))) (and (= (mod (- (+ x P) 1) P) (- (- P 1) (mod (- 0 x) P))) (= (div (- (+ x P) 1) P) (- 0 (div (- 0 x) P))))) :named hint.1))
; MONO(k + 1, up(x), P)
(assert (! (=> (and (>= P 0) (<= (+ k 1) (- 0 (div (- 0 x) P)))) (<= (* (+ k 1) P) (* (- 0 (div (- 0 x) P)) P))) :named hint.2))
; not: 0 - (0 - x) // P == (x + P - 1) // P and P * (0 - (0 - x) // P) >= x and P * (0 - (0 - x) // P - 1) < x and implies(P * k >= x, 0 - (0 - x) // P <= k)
(assert (not (and (= (- 0 (div (- 0 x) P)) (div (- (+ x P) 1) P)) (>= (* P (- 0 (div (- 0 x) P))) x) (< (* P (- (- 0 (div (- 0 x) P)) 1)) x) (=> (>= (* P k) x) (<= (- 0 (div (- 0 x) P)) k)))))
(check-sat)
(pop 1)
