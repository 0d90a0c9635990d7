; CONCAT: a concatenation is the sum of its modes: L(c, e) = L_0(c) + L_1(e)
; Cecka 2026, eq. 11; Shah 2024, 2.19
(set-logic ALL)
(push 1)
; CONCAT
(declare-fun f (Int) Int)
(declare-const s Int)
(declare-const d Int)
(declare-const c Int)
(declare-const e Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; c >= 0
(assert (! (>= c 0) :named hyp.0))
; c < s
(assert (! (< c s) :named hyp.1))
; DM(s, c + s*e, c, e)
(assert (! (=> (and (>= s 1) (>= c 0) (< c s) (= (+ c (* s e)) (+ c (* s e)))) (and (= (mod (+ c (* s e)) s) c) (= (div (+ c (* s e)) s) e))) :named hint.0))
; not: (c + s * e) % s * d + f((c + s * e) // s) == c * d + f(e)
(assert (not (= (+ (* (mod (+ c (* s e)) s) d) (f (div (+ c (* s e)) s))) (+ (* c d) (f e)))))
(check-sat)
(pop 1)
