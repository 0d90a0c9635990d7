; APPEND_RANGE: appending a mode keeps coordinates and indices in range
; Shah 2024, 2.3; Cecka 2026, 2.2
(set-logic ALL)
(push 1)
; APPEND_RANGE
(declare-const s Int)
(declare-const t Int)
(declare-const c Int)
(declare-const e Int)
; c >= 0
(assert (! (>= c 0) :named hyp.0))
; c < s
(assert (! (< c s) :named hyp.1))
; e >= 0
(assert (! (>= e 0) :named hyp.2))
; e < t
(assert (! (< e t) :named hyp.3))
; MONO(e, t - 1, s)
(assert (! (=> (and (>= s 0) (<= e (- t 1))) (<= (* e s) (* (- t 1) s))) :named hint.0))
; MONO(0, e, s)
(assert (! (=> (and (>= s 0) (<= 0 e)) (<= (* 0 s) (* e s))) :named hint.1))
; not: c + s * e >= 0 and c + s * e < s * t
(assert (not (and (>= (+ c (* s e)) 0) (< (+ c (* s e)) (* s t)))))
(check-sat)
(pop 1)
