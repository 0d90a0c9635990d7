; RUN_SPLIT: step: a mode of n*q steps r is n steps r, and then q steps n*r
; derived here
(set-logic ALL)
(push 1)
; RUN_SPLIT.cut0
(declare-const n Int)
(declare-const q Int)
(declare-const r Int)
(declare-const c Int)
(declare-const k Int)
(declare-const e Int)
; k >= 0
(assert (! (>= k 0) :named hyp.0))
; k < n
(assert (! (< k n) :named hyp.1))
; e >= 0
(assert (! (>= e 0) :named hyp.2))
; e < q
(assert (! (< e q) :named hyp.3))
; c == k + n * e
(assert (! (= c (+ k (* n e))) :named hyp.4))
; APPEND_RANGE(n, q, k, e)
(assert (! (=> (and (>= k 0) (< k n) (>= e 0) (< e q)) (and (>= (+ k (* n e)) 0) (< (+ k (* n e)) (* n q)))) :named hint.0))
; not: r * c == r * k + r * (n * e)
(assert (not (= (* r c) (+ (* r k) (* r (* n e))))))
(check-sat)
(pop 1)
(push 1)
; RUN_SPLIT.cut1
(declare-const n Int)
(declare-const q Int)
(declare-const r Int)
(declare-const c Int)
(declare-const k Int)
(declare-const e Int)
; k >= 0
(assert (! (>= k 0) :named hyp.0))
; k < n
(assert (! (< k n) :named hyp.1))
; e >= 0
(assert (! (>= e 0) :named hyp.2))
; e < q
(assert (! (< e q) :named hyp.3))
; c == k + n * e
(assert (! (= c (+ k (* n e))) :named hyp.4))
; APPEND_RANGE(n, q, k, e)
(assert (! (=> (and (>= k 0) (< k n) (>= e 0) (< e q)) (and (>= (+ k (* n e)) 0) (< (+ k (* n e)) (* n q)))) :named hint.0))
; cut 0: r * c == r * k + r * (n * e)
(assert (! (= (* r c) (+ (* r k) (* r (* n e)))) :named cut.0))
; not: r * (n * e) == e * (r * n)
(assert (not (= (* r (* n e)) (* e (* r n)))))
(check-sat)
(pop 1)
(push 1)
; RUN_SPLIT
(declare-const n Int)
(declare-const q Int)
(declare-const r Int)
(declare-const c Int)
(declare-const k Int)
(declare-const e Int)
; k >= 0
(assert (! (>= k 0) :named hyp.0))
; k < n
(assert (! (< k n) :named hyp.1))
; e >= 0
(assert (! (>= e 0) :named hyp.2))
; e < q
(assert (! (< e q) :named hyp.3))
; c == k + n * e
(assert (! (= c (+ k (* n e))) :named hyp.4))
; APPEND_RANGE(n, q, k, e)
(assert (! (=> (and (>= k 0) (< k n) (>= e 0) (< e q)) (and (>= (+ k (* n e)) 0) (< (+ k (* n e)) (* n q)))) :named hint.0))
; cut 0: r * c == r * k + r * (n * e)
(assert (! (= (* r c) (+ (* r k) (* r (* n e)))) :named cut.0))
; cut 1: r * (n * e) == e * (r * n)
(assert (! (= (* r (* n e)) (* e (* r n))) :named cut.1))
; not: r * c == k * r + e * (r * n) and c >= 0 and c < n * q
(assert (not (and (= (* r c) (+ (* k r) (* e (* r n)))) (>= c 0) (< c (* n q)))))
(check-sat)
(pop 1)
