; PERMUTATION_ANY_ONTO: any bijective tiler pi of [0, S), repeated, covers every place
; CUTLASS, include/cute/atom/mma_atom.hpp (permutation_mnk)
(set-logic ALL)
(push 1)
; PERMUTATION_ANY_ONTO
(declare-fun pi (Int) Int)
(declare-fun inv (Int) Int)
(declare-const S Int)
(declare-const p Int)
; S >= 1
(assert (! (>= S 1) :named kind.S))
; pi(inv(p % S)) == p % S
(assert (! (= (pi (inv (mod p S))) (mod p S)) :named hyp.0))
; DIVDEF(S, p)
(assert (! (=> (>= S 1) (and (= p (+ (mod p S) (* S (div p S)))) (<= 0 (mod p S)) (< (mod p S) S))) :named hint.0))
; not: pi(inv(p % S)) + S * (p // S) == p
(assert (not (= (+ (pi (inv (mod p S))) (* S (div p S))) p)))
(check-sat)
(pop 1)
