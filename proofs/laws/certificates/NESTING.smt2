; NESTING: a nested profile is evaluated as its flattening: parentheses do not matter to an index
; Cecka 2026, 2.2
(set-logic ALL)
(push 1)
; NESTING
(declare-fun g (Int) Int)
(declare-fun h (Int) Int)
(declare-const s Int)
(declare-const t Int)
(declare-const d Int)
(declare-const i Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; NDIV(s, t, i)
(assert (! (=> (and (>= s 1) (>= t 1)) (and (= (div (div i s) t) (div i (* s t))) (= (mod (div i s) t) (div (mod i (* s t)) s)) (= (mod i s) (mod (mod i (* s t)) s)))) :named hint.0))
; not: i % (s * t) % s * d + g(i % (s * t) // s) + h(i // (s * t)) == i % s * d + g(i // s % t) + h(i // s // t)
(assert (not (= (+ (+ (* (mod (mod i (* s t)) s) d) (g (div (mod i (* s t)) s))) (h (div i (* s t)))) (+ (+ (* (mod i s) d) (g (mod (div i s) t))) (h (div (div i s) t))))))
(check-sat)
(pop 1)
