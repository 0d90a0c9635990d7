; BYMODE: a by-mode tiler acts on each mode alone
; Cecka 2026, 3.3
(set-logic ALL)
(push 1)
; BYMODE
(declare-fun f (Int) Int)
(declare-fun g (Int) Int)
(declare-fun b (Int) Int)
(declare-fun c (Int) Int)
(declare-const s Int)
(declare-const p Int)
(declare-const q Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; b(p) >= 0
(assert (! (>= (b p) 0) :named hyp.0))
; b(p) < s
(assert (! (< (b p) s) :named hyp.1))
; DM(s, b(p) + s*c(q), b(p), c(q))
(assert (! (=> (and (>= s 1) (>= (b p) 0) (< (b p) s) (= (+ (b p) (* s (c q))) (+ (b p) (* s (c q))))) (and (= (mod (+ (b p) (* s (c q))) s) (b p)) (= (div (+ (b p) (* s (c q))) s) (c q)))) :named hint.0))
; not: f((b(p) + s * c(q)) % s) + g((b(p) + s * c(q)) // s) == f(b(p)) + g(c(q))
(assert (not (= (+ (f (mod (+ (b p) (* s (c q))) s)) (g (div (+ (b p) (* s (c q))) s))) (+ (f (b p)) (g (c q))))))
(check-sat)
(pop 1)
