; COMPATIBLE_SIZE: step: compatible shapes have one size, mode after mode
; CUTLASS, include/cute/int_tuple.hpp (compatible)
(set-logic ALL)
(push 1)
; COMPATIBLE_SIZE
(declare-const p Int)
(declare-const q Int)
(declare-const s Int)
(declare-const t Int)
; p == q
(assert (! (= p q) :named hyp.0))
; s == t
(assert (! (= s t) :named hyp.1))
; not: p * s == q * t
(assert (not (= (* p s) (* q t))))
(check-sat)
(pop 1)
