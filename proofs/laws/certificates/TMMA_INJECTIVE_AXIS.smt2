; TMMA_INJECTIVE_AXIS: TiledMMA, one axis: atom row, warp and repeat are found from the row of the tile
; CUTLASS, include/cute/atom/mma_atom.hpp (thrfrg_C)
(set-logic ALL)
(push 1)
; TMMA_INJECTIVE_AXIS
(declare-const K Int)
(declare-const g Int)
(declare-const p Int)
(declare-const a Int)
(declare-const j Int)
(declare-const p2 Int)
(declare-const b Int)
(declare-const i Int)
; p >= 0
(assert (! (>= p 0) :named hyp.0))
; p < K
(assert (! (< p K) :named hyp.1))
; a >= 0
(assert (! (>= a 0) :named hyp.2))
; a < g
(assert (! (< a g) :named hyp.3))
; p2 >= 0
(assert (! (>= p2 0) :named hyp.4))
; p2 < K
(assert (! (< p2 K) :named hyp.5))
; b >= 0
(assert (! (>= b 0) :named hyp.6))
; b < g
(assert (! (< b g) :named hyp.7))
; p + K * (a + g * j) == p2 + K * (b + g * i)
(assert (! (= (+ p (* K (+ a (* g j)))) (+ p2 (* K (+ b (* g i))))) :named hyp.8))
; U(K, a + g*j, p, b + g*i, p2)
(assert (! (=> (and (>= p 0) (< p K) (>= p2 0) (< p2 K) (= (+ (* K (+ a (* g j))) p) (+ (* K (+ b (* g i))) p2))) (and (= (+ a (* g j)) (+ b (* g i))) (= p p2))) :named hint.0))
; U(g, j, a, i, b)
(assert (! (=> (and (>= a 0) (< a g) (>= b 0) (< b g) (= (+ (* g j) a) (+ (* g i) b))) (and (= j i) (= a b))) :named hint.1))
; not: p == p2 and a == b and i == j
(assert (not (and (= p p2) (= a b) (= i j))))
(check-sat)
(pop 1)
