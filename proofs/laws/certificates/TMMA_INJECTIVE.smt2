; TMMA_INJECTIVE: TiledMMA of any bijective atom: no element of C belongs to two (lane, value, warp, repeat)
; CUTLASS, include/cute/atom/mma_atom.hpp (thrfrg_C)
(set-logic ALL)
(push 1)
; TMMA_INJECTIVE
(declare-fun row (Int Int) Int)
(declare-fun col (Int Int) Int)
(declare-fun lane (Int Int) Int)
(declare-fun val (Int Int) Int)
(declare-const aM Int)
(declare-const aN Int)
(declare-const AM Int)
(declare-const AN Int)
(declare-const l Int)
(declare-const v Int)
(declare-const l2 Int)
(declare-const v2 Int)
(declare-const wm Int)
(declare-const wn Int)
(declare-const rm Int)
(declare-const rn Int)
(declare-const wm2 Int)
(declare-const wn2 Int)
(declare-const rm2 Int)
(declare-const rn2 Int)
; row(l, v) >= 0
(assert (! (>= (row l v) 0) :named hyp.0))
; row(l, v) < aM
(assert (! (< (row l v) aM) :named hyp.1))
; col(l, v) >= 0
(assert (! (>= (col l v) 0) :named hyp.2))
; col(l, v) < aN
(assert (! (< (col l v) aN) :named hyp.3))
; lane(row(l, v), col(l, v)) == l
(assert (! (= (lane (row l v) (col l v)) l) :named hyp.4))
; val(row(l, v), col(l, v)) == v
(assert (! (= (val (row l v) (col l v)) v) :named hyp.5))
; row(l2, v2) >= 0
(assert (! (>= (row l2 v2) 0) :named hyp.6))
; row(l2, v2) < aM
(assert (! (< (row l2 v2) aM) :named hyp.7))
; col(l2, v2) >= 0
(assert (! (>= (col l2 v2) 0) :named hyp.8))
; col(l2, v2) < aN
(assert (! (< (col l2 v2) aN) :named hyp.9))
; lane(row(l2, v2), col(l2, v2)) == l2
(assert (! (= (lane (row l2 v2) (col l2 v2)) l2) :named hyp.10))
; val(row(l2, v2), col(l2, v2)) == v2
(assert (! (= (val (row l2 v2) (col l2 v2)) v2) :named hyp.11))
; wm >= 0
(assert (! (>= wm 0) :named hyp.12))
; wm < AM
(assert (! (< wm AM) :named hyp.13))
; wn >= 0
(assert (! (>= wn 0) :named hyp.14))
; wn < AN
(assert (! (< wn AN) :named hyp.15))
; wm2 >= 0
(assert (! (>= wm2 0) :named hyp.16))
; wm2 < AM
(assert (! (< wm2 AM) :named hyp.17))
; wn2 >= 0
(assert (! (>= wn2 0) :named hyp.18))
; wn2 < AN
(assert (! (< wn2 AN) :named hyp.19))
; row(l, v) + aM * (wm + AM * rm) == row(l2, v2) + aM * (wm2 + AM * rm2)
(assert (! (= (+ (row l v) (* aM (+ wm (* AM rm)))) (+ (row l2 v2) (* aM (+ wm2 (* AM rm2))))) :named hyp.20))
; col(l, v) + aN * (wn + AN * rn) == col(l2, v2) + aN * (wn2 + AN * rn2)
(assert (! (= (+ (col l v) (* aN (+ wn (* AN rn)))) (+ (col l2 v2) (* aN (+ wn2 (* AN rn2))))) :named hyp.21))
; TMMA_INJECTIVE_AXIS(aM, AM, row(l, v), wm, rm, row(l2, v2), wm2, rm2)
(assert (! (=> (and (>= (row l v) 0) (< (row l v) aM) (>= wm 0) (< wm AM) (>= (row l2 v2) 0) (< (row l2 v2) aM) (>= wm2 0) (< wm2 AM) (= (+ (row l v) (* aM (+ wm (* AM rm)))) (+ (row l2 v2) (* aM (+ wm2 (* AM rm2)))))) (and (= (row l v) (row l2 v2)) (= wm wm2) (= rm2 rm))) :named hint.0))
; TMMA_INJECTIVE_AXIS(aN, AN, col(l, v), wn, rn, col(l2, v2), wn2, rn2)
(assert (! (=> (and (>= (col l v) 0) (< (col l v) aN) (>= wn 0) (< wn AN) (>= (col l2 v2) 0) (< (col l2 v2) aN) (>= wn2 0) (< wn2 AN) (= (+ (col l v) (* aN (+ wn (* AN rn)))) (+ (col l2 v2) (* aN (+ wn2 (* AN rn2)))))) (and (= (col l v) (col l2 v2)) (= wn wn2) (= rn2 rn))) :named hint.1))
; not: l == l2 and v == v2 and wm == wm2 and wn == wn2 and rm == rm2 and rn == rn2
(assert (not (and (= l l2) (= v v2) (= wm wm2) (= wn wn2) (= rm rm2) (= rn rn2))))
(check-sat)
(pop 1)
