; TMMA_ONTO: TiledMMA of any bijective atom: every element (m, n) of the tile has a lane, value, warp and repeat
; CUTLASS, include/cute/atom/mma_atom.hpp (thrfrg_C)
(set-logic ALL)
(push 1)
; TMMA_ONTO.cut0
(declare-fun row (Int Int) Int)
(declare-fun col (Int Int) Int)
(declare-fun lane (Int Int) Int)
(declare-fun val (Int Int) Int)
(declare-const aM Int)
(declare-const aN Int)
(declare-const AM Int)
(declare-const AN Int)
(declare-const m Int)
(declare-const n Int)
; aM >= 1
(assert (! (>= aM 1) :named kind.aM))
; aN >= 1
(assert (! (>= aN 1) :named kind.aN))
; AM >= 1
(assert (! (>= AM 1) :named kind.AM))
; AN >= 1
(assert (! (>= AN 1) :named kind.AN))
; row(lane(m % aM, n % aN), val(m % aM, n % aN)) == m % aM
(assert (! (= (row (lane (mod m aM) (mod n aN)) (val (mod m aM) (mod n aN))) (mod m aM)) :named hyp.0))
; col(lane(m % aM, n % aN), val(m % aM, n % aN)) == n % aN
(assert (! (= (col (lane (mod m aM) (mod n aN)) (val (mod m aM) (mod n aN))) (mod n aN)) :named hyp.1))
; DIVDEF(aM, m)
(assert (! (=> (>= aM 1) (and (= m (+ (mod m aM) (* aM (div m aM)))) (<= 0 (mod m aM)) (< (mod m aM) aM))) :named hint.0))
; DIVDEF(AM, m // aM)
(assert (! (=> (>= AM 1) (and (= (div m aM) (+ (mod (div m aM) AM) (* AM (div (div m aM) AM)))) (<= 0 (mod (div m aM) AM)) (< (mod (div m aM) AM) AM))) :named hint.1))
; DIVDEF(aN, n)
(assert (! (=> (>= aN 1) (and (= n (+ (mod n aN) (* aN (div n aN)))) (<= 0 (mod n aN)) (< (mod n aN) aN))) :named hint.2))
; DIVDEF(AN, n // aN)
(assert (! (=> (>= AN 1) (and (= (div n aN) (+ (mod (div n aN) AN) (* AN (div (div n aN) AN)))) (<= 0 (mod (div n aN) AN)) (< (mod (div n aN) AN) AN))) :named hint.3))
; not: m == m % aM + aM * (m // aM % AM + AM * (m // aM // AM))
(assert (not (= m (+ (mod m aM) (* aM (+ (mod (div m aM) AM) (* AM (div (div m aM) AM))))))))
(check-sat)
(pop 1)
(push 1)
; TMMA_ONTO.cut1
(declare-fun row (Int Int) Int)
(declare-fun col (Int Int) Int)
(declare-fun lane (Int Int) Int)
(declare-fun val (Int Int) Int)
(declare-const aM Int)
(declare-const aN Int)
(declare-const AM Int)
(declare-const AN Int)
(declare-const m Int)
(declare-const n Int)
; aM >= 1
(assert (! (>= aM 1) :named kind.aM))
; aN >= 1
(assert (! (>= aN 1) :named kind.aN))
; AM >= 1
(assert (! (>= AM 1) :named kind.AM))
; AN >= 1
(assert (! (>= AN 1) :named kind.AN))
; row(lane(m % aM, n % aN), val(m % aM, n % aN)) == m % aM
(assert (! (= (row (lane (mod m aM) (mod n aN)) (val (mod m aM) (mod n aN))) (mod m aM)) :named hyp.0))
; col(lane(m % aM, n % aN), val(m % aM, n % aN)) == n % aN
(assert (! (= (col (lane (mod m aM) (mod n aN)) (val (mod m aM) (mod n aN))) (mod n aN)) :named hyp.1))
; DIVDEF(aM, m)
(assert (! (=> (>= aM 1) (and (= m (+ (mod m aM) (* aM (div m aM)))) (<= 0 (mod m aM)) (< (mod m aM) aM))) :named hint.0))
; DIVDEF(AM, m // aM)
(assert (! (=> (>= AM 1) (and (= (div m aM) (+ (mod (div m aM) AM) (* AM (div (div m aM) AM)))) (<= 0 (mod (div m aM) AM)) (< (mod (div m aM) AM) AM))) :named hint.1))
; DIVDEF(aN, n)
(assert (! (=> (>= aN 1) (and (= n (+ (mod n aN) (* aN (div n aN)))) (<= 0 (mod n aN)) (< (mod n aN) aN))) :named hint.2))
; DIVDEF(AN, n // aN)
(assert (! (=> (>= AN 1) (and (= (div n aN) (+ (mod (div n aN) AN) (* AN (div (div n aN) AN)))) (<= 0 (mod (div n aN) AN)) (< (mod (div n aN) AN) AN))) :named hint.3))
; cut 0: m == m % aM + aM * (m // aM % AM + AM * (m // aM // AM))
(assert (! (= m (+ (mod m aM) (* aM (+ (mod (div m aM) AM) (* AM (div (div m aM) AM)))))) :named cut.0))
; not: n == n % aN + aN * (n // aN % AN + AN * (n // aN // AN))
(assert (not (= n (+ (mod n aN) (* aN (+ (mod (div n aN) AN) (* AN (div (div n aN) AN))))))))
(check-sat)
(pop 1)
(push 1)
; TMMA_ONTO
(declare-fun row (Int Int) Int)
(declare-fun col (Int Int) Int)
(declare-fun lane (Int Int) Int)
(declare-fun val (Int Int) Int)
(declare-const aM Int)
(declare-const aN Int)
(declare-const AM Int)
(declare-const AN Int)
(declare-const m Int)
(declare-const n Int)
; aM >= 1
(assert (! (>= aM 1) :named kind.aM))
; aN >= 1
(assert (! (>= aN 1) :named kind.aN))
; AM >= 1
(assert (! (>= AM 1) :named kind.AM))
; AN >= 1
(assert (! (>= AN 1) :named kind.AN))
; row(lane(m % aM, n % aN), val(m % aM, n % aN)) == m % aM
(assert (! (= (row (lane (mod m aM) (mod n aN)) (val (mod m aM) (mod n aN))) (mod m aM)) :named hyp.0))
; col(lane(m % aM, n % aN), val(m % aM, n % aN)) == n % aN
(assert (! (= (col (lane (mod m aM) (mod n aN)) (val (mod m aM) (mod n aN))) (mod n aN)) :named hyp.1))
; DIVDEF(aM, m)
(assert (! (=> (>= aM 1) (and (= m (+ (mod m aM) (* aM (div m aM)))) (<= 0 (mod m aM)) (< (mod m aM) aM))) :named hint.0))
; DIVDEF(AM, m // aM)
(assert (! (=> (>= AM 1) (and (= (div m aM) (+ (mod (div m aM) AM) (* AM (div (div m aM) AM)))) (<= 0 (mod (div m aM) AM)) (< (mod (div m aM) AM) AM))) :named hint.1))
; DIVDEF(aN, n)
(assert (! (=> (>= aN 1) (and (= n (+ (mod n aN) (* aN (div n aN)))) (<= 0 (mod n aN)) (< (mod n aN) aN))) :named hint.2))
; DIVDEF(AN, n // aN)
(assert (! (=> (>= AN 1) (and (= (div n aN) (+ (mod (div n aN) AN) (* AN (div (div n aN) AN)))) (<= 0 (mod (div n aN) AN)) (< (mod (div n aN) AN) AN))) :named hint.3))
; cut 0: m == m % aM + aM * (m // aM % AM + AM * (m // aM // AM))
(assert (! (= m (+ (mod m aM) (* aM (+ (mod (div m aM) AM) (* AM (div (div m aM) AM)))))) :named cut.0))
; cut 1: n == n % aN + aN * (n // aN % AN + AN * (n // aN // AN))
(assert (! (= n (+ (mod n aN) (* aN (+ (mod (div n aN) AN) (* AN (div (div n aN) AN)))))) :named cut.1))
; not: row(lane(m % aM, n % aN), val(m % aM, n % aN)) + aM * (m // aM % AM + AM * (m // aM // AM)) == m and col(lane(m % aM, n % aN), val(m % aM, n % aN)) + aN * (n // aN % AN + AN * (n // aN // AN)) == n
(assert (not (and (= (+ (row (lane (mod m aM) (mod n aN)) (val (mod m aM) (mod n aN))) (* aM (+ (mod (div m aM) AM) (* AM (div (div m aM) AM))))) m) (= (+ (col (lane (mod m aM) (mod n aN)) (val (mod m aM) (mod n aN))) (* aN (+ (mod (div n aN) AN) (* AN (div (div n aN) AN))))) n))))
(check-sat)
(pop 1)
