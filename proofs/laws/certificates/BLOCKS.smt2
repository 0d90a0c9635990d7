; BLOCKS: what any layout satisfies: with the first mode s:e, the values repeat in blocks of s
; derived here
(set-logic ALL)
(push 1)
; BLOCKS
(declare-fun f (Int) Int)
(declare-const s Int)
(declare-const e Int)
(declare-const i Int)
(declare-const j Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.0))
; i >= 0
(assert (! (>= i 0) :named hyp.1))
; i < s
(assert (! (< i s) :named hyp.2))
; DM(s, i + s*j, i, j)
(assert (! (=> (and (>= s 1) (>= i 0) (< i s) (= (+ i (* s j)) (+ i (* s j)))) (and (= (mod (+ i (* s j)) s) i) (= (div (+ i (* s j)) s) j))) :named hint.0))
; DM(s, i, i, 0)
(assert (! (=> (and (>= s 1) (>= i 0) (< i s) (= i (+ i (* s 0)))) (and (= (mod i s) i) (= (div i s) 0))) :named hint.1))
; DM(s, s*j, 0, j)
(assert (! (=> (and (>= s 1) (>= 0 0) (< 0 s) (= (* s j) (+ 0 (* s j)))) (and (= (mod (* s j) s) 0) (= (div (* s j) s) j))) :named hint.2))
; not: (i + s * j) % s * e + f((i + s * j) // s) == i % s * e + f(i // s) + (s * j % s * e + f(s * j // s)) and i % s * e + f(i // s) == i * e and s * j % s * e + f(s * j // s) == f(j)
(assert (not (and (= (+ (* (mod (+ i (* s j)) s) e) (f (div (+ i (* s j)) s))) (+ (+ (* (mod i s) e) (f (div i s))) (+ (* (mod (* s j) s) e) (f (div (* s j) s))))) (= (+ (* (mod i s) e) (f (div i s))) (* i e)) (= (+ (* (mod (* s j) s) e) (f (div (* s j) s))) (f j)))))
(check-sat)
(pop 1)
