; PERMUTATION_ONTO: the permutation (F,R):(R,1) of a tile axis, repeated, covers every place
; CUTLASS, media/docs/cpp/cute/0t_mma_atom.md
(set-logic ALL)
(push 1)
; PERMUTATION_ONTO.cut0
(declare-const F Int)
(declare-const R Int)
(declare-const rest Int)
(declare-const p Int)
; F >= 1
(assert (! (>= F 1) :named kind.F))
; R >= 1
(assert (! (>= R 1) :named kind.R))
; p < F * R * rest
(assert (! (< p (* (* F R) rest)) :named hyp.0))
; DIVDEF(R, p)
(assert (! (=> (>= R 1) (and (= p (+ (mod p R) (* R (div p R)))) (<= 0 (mod p R)) (< (mod p R) R))) :named hint.0))
; DIVDEF(F, p // R)
(assert (! (=> (>= F 1) (and (= (div p R) (+ (mod (div p R) F) (* F (div (div p R) F)))) (<= 0 (mod (div p R) F)) (< (mod (div p R) F) F))) :named hint.1))
; LTD(R, F*rest, p)
(assert (! (=> (and (>= R 1) (< p (* R (* F rest)))) (< (div p R) (* F rest))) :named hint.2))
; LTD(F, rest, p // R)
(assert (! (=> (and (>= F 1) (< (div p R) (* F rest))) (< (div (div p R) F) rest)) :named hint.3))
; not: R * (p // R) == p // R % F * R + F * R * (p // R // F)
(assert (not (= (* R (div p R)) (+ (* (mod (div p R) F) R) (* (* F R) (div (div p R) F))))))
(check-sat)
(pop 1)
(push 1)
; PERMUTATION_ONTO
(declare-const F Int)
(declare-const R Int)
(declare-const rest Int)
(declare-const p Int)
; F >= 1
(assert (! (>= F 1) :named kind.F))
; R >= 1
(assert (! (>= R 1) :named kind.R))
; p < F * R * rest
(assert (! (< p (* (* F R) rest)) :named hyp.0))
; DIVDEF(R, p)
(assert (! (=> (>= R 1) (and (= p (+ (mod p R) (* R (div p R)))) (<= 0 (mod p R)) (< (mod p R) R))) :named hint.0))
; DIVDEF(F, p // R)
(assert (! (=> (>= F 1) (and (= (div p R) (+ (mod (div p R) F) (* F (div (div p R) F)))) (<= 0 (mod (div p R) F)) (< (mod (div p R) F) F))) :named hint.1))
; LTD(R, F*rest, p)
(assert (! (=> (and (>= R 1) (< p (* R (* F rest)))) (< (div p R) (* F rest))) :named hint.2))
; LTD(F, rest, p // R)
(assert (! (=> (and (>= F 1) (< (div p R) (* F rest))) (< (div (div p R) F) rest)) :named hint.3))
; cut 0: R * (p // R) == p // R % F * R + F * R * (p // R // F)
(assert (! (= (* R (div p R)) (+ (* (mod (div p R) F) R) (* (* F R) (div (div p R) F)))) :named cut.0))
; not: p // R % F * R + p % R + F * R * (p // R // F) == p and p // R // F < rest
(assert (not (and (= (+ (+ (* (mod (div p R) F) R) (mod p R)) (* (* F R) (div (div p R) F))) p) (< (div (div p R) F) rest))))
(check-sat)
(pop 1)
