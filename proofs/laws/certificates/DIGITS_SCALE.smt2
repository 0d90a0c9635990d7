; DIGITS_SCALE: digits scale as long as they do not carry
; arithmetic
(set-logic ALL)
(push 1)
; DIGITS_SCALE.cut0
(declare-const M Int)
(declare-const k Int)
(declare-const r Int)
; M >= 1
(assert (! (>= M 1) :named kind.M))
; k >= 0
(assert (! (>= k 0) :named hyp.0))
; k * (r % M) < M
(assert (! (< (* k (mod r M)) M) :named hyp.1))
; DIVDEF(M, r)
(assert (! (=> (>= M 1) (and (= r (+ (mod r M) (* M (div r M)))) (<= 0 (mod r M)) (< (mod r M) M))) :named hint.0))
; MONO(0, r % M, k)
(assert (! (=> (and (>= k 0) (<= 0 (mod r M))) (<= (* 0 k) (* (mod r M) k))) :named hint.1))
; DM(M, k*r, k*(r % M), k*(r // M))
(assert (! (=> (and (>= M 1) (>= (* k (mod r M)) 0) (< (* k (mod r M)) M) (= (* k r) (+ (* k (mod r M)) (* M (* k (div r M)))))) (and (= (mod (* k r) M) (* k (mod r M))) (= (div (* k r) M) (* k (div r M))))) :named hint.2))
; not: k * r == k * (r % M) + M * (k * (r // M))
(assert (not (= (* k r) (+ (* k (mod r M)) (* M (* k (div r M)))))))
(check-sat)
(pop 1)
(push 1)
; DIGITS_SCALE
(declare-const M Int)
(declare-const k Int)
(declare-const r Int)
; M >= 1
(assert (! (>= M 1) :named kind.M))
; k >= 0
(assert (! (>= k 0) :named hyp.0))
; k * (r % M) < M
(assert (! (< (* k (mod r M)) M) :named hyp.1))
; DIVDEF(M, r)
(assert (! (=> (>= M 1) (and (= r (+ (mod r M) (* M (div r M)))) (<= 0 (mod r M)) (< (mod r M) M))) :named hint.0))
; MONO(0, r % M, k)
(assert (! (=> (and (>= k 0) (<= 0 (mod r M))) (<= (* 0 k) (* (mod r M) k))) :named hint.1))
; DM(M, k*r, k*(r % M), k*(r // M))
(assert (! (=> (and (>= M 1) (>= (* k (mod r M)) 0) (< (* k (mod r M)) M) (= (* k r) (+ (* k (mod r M)) (* M (* k (div r M)))))) (and (= (mod (* k r) M) (* k (mod r M))) (= (div (* k r) M) (* k (div r M))))) :named hint.2))
; cut 0: k * r == k * (r % M) + M * (k * (r // M))
(assert (! (= (* k r) (+ (* k (mod r M)) (* M (* k (div r M))))) :named cut.0))
; not: k * r % M == k * (r % M) and k * r // M == k * (r // M)
(assert (not (and (= (mod (* k r) M) (* k (mod r M))) (= (div (* k r) M) (* k (div r M))))))
(check-sat)
(pop 1)
