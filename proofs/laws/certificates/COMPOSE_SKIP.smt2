; COMPOSE_SKIP: step 1: r = M*r': the first mode is skipped
; Shah 2024, 2.14; CuTe, include/cute/layout.hpp (composition_impl)
(set-logic ALL)
(push 1)
; COMPOSE_SKIP
(declare-fun f (Int) Int)
(declare-const M Int)
(declare-const d Int)
(declare-const r2 Int)
(declare-const k Int)
; M >= 1
(assert (! (>= M 1) :named kind.M))
; DM(M, (M*r2)*k, 0, r2*k)
(assert (! (=> (and (>= M 1) (>= 0 0) (< 0 M) (= (* (* M r2) k) (+ 0 (* M (* r2 k))))) (and (= (mod (* (* M r2) k) M) 0) (= (div (* (* M r2) k) M) (* r2 k)))) :named hint.0))
; not: M * r2 * k % M * d + f(M * r2 * k // M) == f(r2 * k)
(assert (not (= (+ (* (mod (* (* M r2) k) M) d) (f (div (* (* M r2) k) M))) (f (* r2 k)))))
(check-sat)
(pop 1)
