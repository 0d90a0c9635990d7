; TMMA_ONTO_AXIS: TiledMMA, one axis: every row of the tile has its atom row, warp and repeat
; CUTLASS, include/cute/atom/mma_atom.hpp (thrfrg_C)
(set-logic ALL)
(push 1)
; TMMA_ONTO_AXIS
(declare-const a Int)
(declare-const A Int)
(declare-const R Int)
(declare-const m Int)
; a >= 1
(assert (! (>= a 1) :named kind.a))
; A >= 1
(assert (! (>= A 1) :named kind.A))
; m >= 0
(assert (! (>= m 0) :named hyp.0))
; m < a * (A * R)
(assert (! (< m (* a (* A R))) :named hyp.1))
; DIVDEF(a, m)
(assert (! (=> (>= a 1) (and (= m (+ (mod m a) (* a (div m a)))) (<= 0 (mod m a)) (< (mod m a) a))) :named hint.0))
; DIVDEF(A, m // a)
(assert (! (=> (>= A 1) (and (= (div m a) (+ (mod (div m a) A) (* A (div (div m a) A)))) (<= 0 (mod (div m a) A)) (< (mod (div m a) A) A))) :named hint.1))
; LTD(a, A*R, m)
(assert (! (=> (and (>= a 1) (< m (* a (* A R)))) (< (div m a) (* A R))) :named hint.2))
; LTD(A, R, m // a)
(assert (! (=> (and (>= A 1) (< (div m a) (* A R))) (< (div (div m a) A) R)) :named hint.3))
; NONNEG(a, m)
(assert (! (=> (and (>= a 1) (>= m 0)) (and (>= (div m a) 0) (<= (div m a) m))) :named hint.4))
; NONNEG(A, m // a)
(assert (! (=> (and (>= A 1) (>= (div m a) 0)) (and (>= (div (div m a) A) 0) (<= (div (div m a) A) (div m a)))) :named hint.5))
; not: m % a + a * (m // a % A + A * (m // a // A)) == m and m // a // A < R and 0 <= m % a and m % a < a and 0 <= m // a % A and m // a % A < A and 0 <= m // a // A
(assert (not (and (= (+ (mod m a) (* a (+ (mod (div m a) A) (* A (div (div m a) A))))) m) (< (div (div m a) A) R) (<= 0 (mod m a)) (< (mod m a) a) (<= 0 (mod (div m a) A)) (< (mod (div m a) A) A) (<= 0 (div (div m a) A)))))
(check-sat)
(pop 1)
