; APPEND_INVERSE: coordinate to index and back, and index to coordinate and back
; Shah 2024, 2.3; Cecka 2026, 2.2
(set-logic ALL)
(push 1)
; APPEND_INVERSE
(declare-const s Int)
(declare-const t Int)
(declare-const c Int)
(declare-const e Int)
(declare-const i Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; c >= 0
(assert (! (>= c 0) :named hyp.0))
; c < s
(assert (! (< c s) :named hyp.1))
; i >= 0
(assert (! (>= i 0) :named hyp.2))
; i < s * t
(assert (! (< i (* s t)) :named hyp.3))
; DM(s, c + s*e, c, e)
(assert (! (=> (and (>= s 1) (>= c 0) (< c s) (= (+ c (* s e)) (+ c (* s e)))) (and (= (mod (+ c (* s e)) s) c) (= (div (+ c (* s e)) s) e))) :named hint.0))
; DIVDEF(s, i)
(assert (! (=> (>= s 1) (and (= i (+ (mod i s) (* s (div i s)))) (<= 0 (mod i s)) (< (mod i s) s))) :named hint.1))
; LTD(s, t, i)
(assert (! (=> (and (>= s 1) (< i (* s t))) (< (div i s) t)) :named hint.2))
; not: (c + s * e) % s == c and (c + s * e) // s == e and i % s + s * (i // s) == i and 0 <= i // s and i // s < t
(assert (not (and (= (mod (+ c (* s e)) s) c) (= (div (+ c (* s e)) s) e) (= (+ (mod i s) (* s (div i s))) i) (<= 0 (div i s)) (< (div i s) t))))
(check-sat)
(pop 1)
