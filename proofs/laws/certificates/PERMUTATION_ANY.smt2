; PERMUTATION_ANY: any bijective tiler pi of [0, S), repeated, sends no two coordinates to one place
; CUTLASS, include/cute/atom/mma_atom.hpp (permutation_mnk)
(set-logic ALL)
(push 1)
; PERMUTATION_ANY
(declare-fun pi (Int) Int)
(declare-fun inv (Int) Int)
(declare-const S Int)
(declare-const x Int)
(declare-const y Int)
(declare-const c Int)
(declare-const e Int)
; pi(x) >= 0
(assert (! (>= (pi x) 0) :named hyp.0))
; pi(x) < S
(assert (! (< (pi x) S) :named hyp.1))
; pi(y) >= 0
(assert (! (>= (pi y) 0) :named hyp.2))
; pi(y) < S
(assert (! (< (pi y) S) :named hyp.3))
; inv(pi(x)) == x
(assert (! (= (inv (pi x)) x) :named hyp.4))
; inv(pi(y)) == y
(assert (! (= (inv (pi y)) y) :named hyp.5))
; pi(x) + S * c == pi(y) + S * e
(assert (! (= (+ (pi x) (* S c)) (+ (pi y) (* S e))) :named hyp.6))
; U(S, c, pi(x), e, pi(y))
(assert (! (=> (and (>= (pi x) 0) (< (pi x) S) (>= (pi y) 0) (< (pi y) S) (= (+ (* S c) (pi x)) (+ (* S e) (pi y)))) (and (= c e) (= (pi x) (pi y)))) :named hint.0))
; not: x == y and c == e
(assert (not (and (= x y) (= c e))))
(check-sat)
(pop 1)
