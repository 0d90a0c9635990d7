; LEFT_INVERSE_RANK2: L = (s,t):(u,u*v) with s <= v: L+(L(k)) = k with L+ = (u,v,*):(0,1,s)
; Cecka 2026, 3.4; CuTe, include/cute/layout.hpp (left_inverse)
(set-logic ALL)
(push 1)
; LEFT_INVERSE_RANK2.cut0
(declare-const s Int)
(declare-const u Int)
(declare-const v Int)
(declare-const k Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; u >= 1
(assert (! (>= u 1) :named kind.u))
; v >= 1
(assert (! (>= v 1) :named kind.v))
; s <= v
(assert (! (<= s v) :named hyp.0))
; DIVDEF(s, k)
(assert (! (=> (>= s 1) (and (= k (+ (mod k s) (* s (div k s)))) (<= 0 (mod k s)) (< (mod k s) s))) :named hint.0))
; DM(u, L(k), 0, k % s + v*(k // s))
(assert (! (=> (and (>= u 1) (>= 0 0) (< 0 u) (= (+ (* (mod k s) u) (* (div k s) (* u v))) (+ 0 (* u (+ (mod k s) (* v (div k s))))))) (and (= (mod (+ (* (mod k s) u) (* (div k s) (* u v))) u) 0) (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s)))))) :named hint.1))
; DM(v, k % s + v*(k // s), k % s, k // s)
(assert (! (=> (and (>= v 1) (>= (mod k s) 0) (< (mod k s) v) (= (+ (mod k s) (* v (div k s))) (+ (mod k s) (* v (div k s))))) (and (= (mod (+ (mod k s) (* v (div k s))) v) (mod k s)) (= (div (+ (mod k s) (* v (div k s))) v) (div k s)))) :named hint.2))
; DIVEQ(v, L(k) // u, k % s + v*(k // s))
(assert (! (=> (and (>= v 1) (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s))))) (and (= (div (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (div (+ (mod k s) (* v (div k s))) v)) (= (mod (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (mod (+ (mod k s) (* v (div k s))) v)))) :named hint.3))
; not: k % s * u + k // s * (u * v) == u * (k % s + v * (k // s))
(assert (not (= (+ (* (mod k s) u) (* (div k s) (* u v))) (* u (+ (mod k s) (* v (div k s)))))))
(check-sat)
(pop 1)
(push 1)
; LEFT_INVERSE_RANK2.cut1
(declare-const s Int)
(declare-const u Int)
(declare-const v Int)
(declare-const k Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; u >= 1
(assert (! (>= u 1) :named kind.u))
; v >= 1
(assert (! (>= v 1) :named kind.v))
; s <= v
(assert (! (<= s v) :named hyp.0))
; DIVDEF(s, k)
(assert (! (=> (>= s 1) (and (= k (+ (mod k s) (* s (div k s)))) (<= 0 (mod k s)) (< (mod k s) s))) :named hint.0))
; DM(u, L(k), 0, k % s + v*(k // s))
(assert (! (=> (and (>= u 1) (>= 0 0) (< 0 u) (= (+ (* (mod k s) u) (* (div k s) (* u v))) (+ 0 (* u (+ (mod k s) (* v (div k s))))))) (and (= (mod (+ (* (mod k s) u) (* (div k s) (* u v))) u) 0) (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s)))))) :named hint.1))
; DM(v, k % s + v*(k // s), k % s, k // s)
(assert (! (=> (and (>= v 1) (>= (mod k s) 0) (< (mod k s) v) (= (+ (mod k s) (* v (div k s))) (+ (mod k s) (* v (div k s))))) (and (= (mod (+ (mod k s) (* v (div k s))) v) (mod k s)) (= (div (+ (mod k s) (* v (div k s))) v) (div k s)))) :named hint.2))
; DIVEQ(v, L(k) // u, k % s + v*(k // s))
(assert (! (=> (and (>= v 1) (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s))))) (and (= (div (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (div (+ (mod k s) (* v (div k s))) v)) (= (mod (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (mod (+ (mod k s) (* v (div k s))) v)))) :named hint.3))
; cut 0: k % s * u + k // s * (u * v) == u * (k % s + v * (k // s))
(assert (! (= (+ (* (mod k s) u) (* (div k s) (* u v))) (* u (+ (mod k s) (* v (div k s))))) :named cut.0))
; not: (k % s * u + k // s * (u * v)) // u == k % s + v * (k // s)
(assert (not (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s))))))
(check-sat)
(pop 1)
(push 1)
; LEFT_INVERSE_RANK2.cut2
(declare-const s Int)
(declare-const u Int)
(declare-const v Int)
(declare-const k Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; u >= 1
(assert (! (>= u 1) :named kind.u))
; v >= 1
(assert (! (>= v 1) :named kind.v))
; s <= v
(assert (! (<= s v) :named hyp.0))
; DIVDEF(s, k)
(assert (! (=> (>= s 1) (and (= k (+ (mod k s) (* s (div k s)))) (<= 0 (mod k s)) (< (mod k s) s))) :named hint.0))
; DM(u, L(k), 0, k % s + v*(k // s))
(assert (! (=> (and (>= u 1) (>= 0 0) (< 0 u) (= (+ (* (mod k s) u) (* (div k s) (* u v))) (+ 0 (* u (+ (mod k s) (* v (div k s))))))) (and (= (mod (+ (* (mod k s) u) (* (div k s) (* u v))) u) 0) (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s)))))) :named hint.1))
; DM(v, k % s + v*(k // s), k % s, k // s)
(assert (! (=> (and (>= v 1) (>= (mod k s) 0) (< (mod k s) v) (= (+ (mod k s) (* v (div k s))) (+ (mod k s) (* v (div k s))))) (and (= (mod (+ (mod k s) (* v (div k s))) v) (mod k s)) (= (div (+ (mod k s) (* v (div k s))) v) (div k s)))) :named hint.2))
; DIVEQ(v, L(k) // u, k % s + v*(k // s))
(assert (! (=> (and (>= v 1) (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s))))) (and (= (div (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (div (+ (mod k s) (* v (div k s))) v)) (= (mod (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (mod (+ (mod k s) (* v (div k s))) v)))) :named hint.3))
; cut 0: k % s * u + k // s * (u * v) == u * (k % s + v * (k // s))
(assert (! (= (+ (* (mod k s) u) (* (div k s) (* u v))) (* u (+ (mod k s) (* v (div k s))))) :named cut.0))
; cut 1: (k % s * u + k // s * (u * v)) // u == k % s + v * (k // s)
(assert (! (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s)))) :named cut.1))
; not: (k % s * u + k // s * (u * v)) // u % v == k % s
(assert (not (= (mod (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (mod k s))))
(check-sat)
(pop 1)
(push 1)
; LEFT_INVERSE_RANK2.cut3
(declare-const s Int)
(declare-const u Int)
(declare-const v Int)
(declare-const k Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; u >= 1
(assert (! (>= u 1) :named kind.u))
; v >= 1
(assert (! (>= v 1) :named kind.v))
; s <= v
(assert (! (<= s v) :named hyp.0))
; DIVDEF(s, k)
(assert (! (=> (>= s 1) (and (= k (+ (mod k s) (* s (div k s)))) (<= 0 (mod k s)) (< (mod k s) s))) :named hint.0))
; DM(u, L(k), 0, k % s + v*(k // s))
(assert (! (=> (and (>= u 1) (>= 0 0) (< 0 u) (= (+ (* (mod k s) u) (* (div k s) (* u v))) (+ 0 (* u (+ (mod k s) (* v (div k s))))))) (and (= (mod (+ (* (mod k s) u) (* (div k s) (* u v))) u) 0) (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s)))))) :named hint.1))
; DM(v, k % s + v*(k // s), k % s, k // s)
(assert (! (=> (and (>= v 1) (>= (mod k s) 0) (< (mod k s) v) (= (+ (mod k s) (* v (div k s))) (+ (mod k s) (* v (div k s))))) (and (= (mod (+ (mod k s) (* v (div k s))) v) (mod k s)) (= (div (+ (mod k s) (* v (div k s))) v) (div k s)))) :named hint.2))
; DIVEQ(v, L(k) // u, k % s + v*(k // s))
(assert (! (=> (and (>= v 1) (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s))))) (and (= (div (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (div (+ (mod k s) (* v (div k s))) v)) (= (mod (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (mod (+ (mod k s) (* v (div k s))) v)))) :named hint.3))
; cut 0: k % s * u + k // s * (u * v) == u * (k % s + v * (k // s))
(assert (! (= (+ (* (mod k s) u) (* (div k s) (* u v))) (* u (+ (mod k s) (* v (div k s))))) :named cut.0))
; cut 1: (k % s * u + k // s * (u * v)) // u == k % s + v * (k // s)
(assert (! (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s)))) :named cut.1))
; cut 2: (k % s * u + k // s * (u * v)) // u % v == k % s
(assert (! (= (mod (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (mod k s)) :named cut.2))
; not: (k % s * u + k // s * (u * v)) // u // v == k // s
(assert (not (= (div (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (div k s))))
(check-sat)
(pop 1)
(push 1)
; LEFT_INVERSE_RANK2
(declare-const s Int)
(declare-const u Int)
(declare-const v Int)
(declare-const k Int)
; s >= 1
(assert (! (>= s 1) :named kind.s))
; u >= 1
(assert (! (>= u 1) :named kind.u))
; v >= 1
(assert (! (>= v 1) :named kind.v))
; s <= v
(assert (! (<= s v) :named hyp.0))
; DIVDEF(s, k)
(assert (! (=> (>= s 1) (and (= k (+ (mod k s) (* s (div k s)))) (<= 0 (mod k s)) (< (mod k s) s))) :named hint.0))
; DM(u, L(k), 0, k % s + v*(k // s))
(assert (! (=> (and (>= u 1) (>= 0 0) (< 0 u) (= (+ (* (mod k s) u) (* (div k s) (* u v))) (+ 0 (* u (+ (mod k s) (* v (div k s))))))) (and (= (mod (+ (* (mod k s) u) (* (div k s) (* u v))) u) 0) (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s)))))) :named hint.1))
; DM(v, k % s + v*(k // s), k % s, k // s)
(assert (! (=> (and (>= v 1) (>= (mod k s) 0) (< (mod k s) v) (= (+ (mod k s) (* v (div k s))) (+ (mod k s) (* v (div k s))))) (and (= (mod (+ (mod k s) (* v (div k s))) v) (mod k s)) (= (div (+ (mod k s) (* v (div k s))) v) (div k s)))) :named hint.2))
; DIVEQ(v, L(k) // u, k % s + v*(k // s))
(assert (! (=> (and (>= v 1) (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s))))) (and (= (div (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (div (+ (mod k s) (* v (div k s))) v)) (= (mod (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (mod (+ (mod k s) (* v (div k s))) v)))) :named hint.3))
; cut 0: k % s * u + k // s * (u * v) == u * (k % s + v * (k // s))
(assert (! (= (+ (* (mod k s) u) (* (div k s) (* u v))) (* u (+ (mod k s) (* v (div k s))))) :named cut.0))
; cut 1: (k % s * u + k // s * (u * v)) // u == k % s + v * (k // s)
(assert (! (= (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) (+ (mod k s) (* v (div k s)))) :named cut.1))
; cut 2: (k % s * u + k // s * (u * v)) // u % v == k % s
(assert (! (= (mod (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (mod k s)) :named cut.2))
; cut 3: (k % s * u + k // s * (u * v)) // u // v == k // s
(assert (! (= (div (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (div k s)) :named cut.3))
; not: (k % s * u + k // s * (u * v)) // u % v + s * ((k % s * u + k // s * (u * v)) // u // v) == k
(assert (not (= (+ (mod (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v) (* s (div (div (+ (* (mod k s) u) (* (div k s) (* u v))) u) v))) k)))
(check-sat)
(pop 1)
