; COMPLEMENT_ORDERED: step: a growing prefix f on [0, g) with values below the next stride e grows on
; Shah 2024, 2.7; Cecka 2026, eq. 28
(set-logic ALL)
(push 1)
; COMPLEMENT_ORDERED.cut0
(declare-fun f (Int) Int)
(declare-const g Int)
(declare-const e Int)
(declare-const i Int)
; g >= 1
(assert (! (>= g 1) :named kind.g))
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.0))
; implies(i % g + 1 < g, f(i % g) < f(i % g + 1))
(assert (! (=> (< (+ (mod i g) 1) g) (< (f (mod i g)) (f (+ (mod i g) 1)))) :named hyp.1))
; f(i % g) < e
(assert (! (< (f (mod i g)) e) :named hyp.2))
; DIVDEF(g, i)
(assert (! (=> (>= g 1) (and (= i (+ (mod i g) (* g (div i g)))) (<= 0 (mod i g)) (< (mod i g) g))) :named hint.0))
; DM(g, i + 1, i % g + 1, i // g)
(assert (! (=> (and (>= g 1) (>= (+ (mod i g) 1) 0) (< (+ (mod i g) 1) g) (= (+ i 1) (+ (+ (mod i g) 1) (* g (div i g))))) (and (= (mod (+ i 1) g) (+ (mod i g) 1)) (= (div (+ i 1) g) (div i g)))) :named hint.1))
; DM(g, i + 1, 0, i // g + 1)
(assert (! (=> (and (>= g 1) (>= 0 0) (< 0 g) (= (+ i 1) (+ 0 (* g (+ (div i g) 1))))) (and (= (mod (+ i 1) g) 0) (= (div (+ i 1) g) (+ (div i g) 1)))) :named hint.2))
; not: implies(i % g + 1 == g, i + 1 == g * (i // g + 1))
(assert (not (=> (= (+ (mod i g) 1) g) (= (+ i 1) (* g (+ (div i g) 1))))))
(check-sat)
(pop 1)
(push 1)
; COMPLEMENT_ORDERED.cut1
(declare-fun f (Int) Int)
(declare-const g Int)
(declare-const e Int)
(declare-const i Int)
; g >= 1
(assert (! (>= g 1) :named kind.g))
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.0))
; implies(i % g + 1 < g, f(i % g) < f(i % g + 1))
(assert (! (=> (< (+ (mod i g) 1) g) (< (f (mod i g)) (f (+ (mod i g) 1)))) :named hyp.1))
; f(i % g) < e
(assert (! (< (f (mod i g)) e) :named hyp.2))
; DIVDEF(g, i)
(assert (! (=> (>= g 1) (and (= i (+ (mod i g) (* g (div i g)))) (<= 0 (mod i g)) (< (mod i g) g))) :named hint.0))
; DM(g, i + 1, i % g + 1, i // g)
(assert (! (=> (and (>= g 1) (>= (+ (mod i g) 1) 0) (< (+ (mod i g) 1) g) (= (+ i 1) (+ (+ (mod i g) 1) (* g (div i g))))) (and (= (mod (+ i 1) g) (+ (mod i g) 1)) (= (div (+ i 1) g) (div i g)))) :named hint.1))
; DM(g, i + 1, 0, i // g + 1)
(assert (! (=> (and (>= g 1) (>= 0 0) (< 0 g) (= (+ i 1) (+ 0 (* g (+ (div i g) 1))))) (and (= (mod (+ i 1) g) 0) (= (div (+ i 1) g) (+ (div i g) 1)))) :named hint.2))
; cut 0: implies(i % g + 1 == g, i + 1 == g * (i // g + 1))
(assert (! (=> (= (+ (mod i g) 1) g) (= (+ i 1) (* g (+ (div i g) 1)))) :named cut.0))
; not: (i // g + 1) * e == i // g * e + e
(assert (not (= (* (+ (div i g) 1) e) (+ (* (div i g) e) e))))
(check-sat)
(pop 1)
(push 1)
; COMPLEMENT_ORDERED
(declare-fun f (Int) Int)
(declare-const g Int)
(declare-const e Int)
(declare-const i Int)
; g >= 1
(assert (! (>= g 1) :named kind.g))
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.0))
; implies(i % g + 1 < g, f(i % g) < f(i % g + 1))
(assert (! (=> (< (+ (mod i g) 1) g) (< (f (mod i g)) (f (+ (mod i g) 1)))) :named hyp.1))
; f(i % g) < e
(assert (! (< (f (mod i g)) e) :named hyp.2))
; DIVDEF(g, i)
(assert (! (=> (>= g 1) (and (= i (+ (mod i g) (* g (div i g)))) (<= 0 (mod i g)) (< (mod i g) g))) :named hint.0))
; DM(g, i + 1, i % g + 1, i // g)
(assert (! (=> (and (>= g 1) (>= (+ (mod i g) 1) 0) (< (+ (mod i g) 1) g) (= (+ i 1) (+ (+ (mod i g) 1) (* g (div i g))))) (and (= (mod (+ i 1) g) (+ (mod i g) 1)) (= (div (+ i 1) g) (div i g)))) :named hint.1))
; DM(g, i + 1, 0, i // g + 1)
(assert (! (=> (and (>= g 1) (>= 0 0) (< 0 g) (= (+ i 1) (+ 0 (* g (+ (div i g) 1))))) (and (= (mod (+ i 1) g) 0) (= (div (+ i 1) g) (+ (div i g) 1)))) :named hint.2))
; cut 0: implies(i % g + 1 == g, i + 1 == g * (i // g + 1))
(assert (! (=> (= (+ (mod i g) 1) g) (= (+ i 1) (* g (+ (div i g) 1)))) :named cut.0))
; cut 1: (i // g + 1) * e == i // g * e + e
(assert (! (= (* (+ (div i g) 1) e) (+ (* (div i g) e) e)) :named cut.1))
; not: f(i % g) + i // g * e < f((i + 1) % g) + (i + 1) // g * e
(assert (not (< (+ (f (mod i g)) (* (div i g) e)) (+ (f (mod (+ i 1) g)) (* (div (+ i 1) g) e)))))
(check-sat)
(pop 1)
