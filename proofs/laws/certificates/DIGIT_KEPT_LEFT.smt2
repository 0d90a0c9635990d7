; DIGIT_KEPT_LEFT: giving a mode further left, whose digit is 0, the digit c leaves the digits to its right alone
; derived here
(set-logic ALL)
(push 1)
; DIGIT_KEPT_LEFT.cut0
(declare-const q Int)
(declare-const t Int)
(declare-const m Int)
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; q >= 1
(assert (! (>= q 1) :named kind.q))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < q
(assert (! (< a q) :named hyp.1))
; c >= 0
(assert (! (>= c 0) :named hyp.2))
; c < t
(assert (! (< c t) :named hyp.3))
; MONO(c, t - 1, q)
(assert (! (=> (and (>= q 0) (<= c (- t 1))) (<= (* c q) (* (- t 1) q))) :named hint.0))
; MONO(0, c, q)
(assert (! (=> (and (>= q 0) (<= 0 c)) (<= (* 0 q) (* c q))) :named hint.1))
; MONO(1, t, q)
(assert (! (=> (and (>= q 0) (<= 1 t)) (<= (* 1 q) (* t q))) :named hint.2))
; DM(q*t, a + q*c + (q*t)*b, a + q*c, b)
(assert (! (=> (and (>= (* q t) 1) (>= (+ a (* q c)) 0) (< (+ a (* q c)) (* q t)) (= (+ (+ a (* q c)) (* (* q t) b)) (+ (+ a (* q c)) (* (* q t) b)))) (and (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (+ a (* q c))) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b))) :named hint.3))
; DM(q*t, a + (q*t)*b, a, b)
(assert (! (=> (and (>= (* q t) 1) (>= a 0) (< a (* q t)) (= (+ a (* (* q t) b)) (+ a (* (* q t) b)))) (and (= (mod (+ a (* (* q t) b)) (* q t)) a) (= (div (+ a (* (* q t) b)) (* q t)) b))) :named hint.4))
; DIVEQ(m, (a + q*c + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.5))
; DIVEQ(m, (a + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ a (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.6))
; NDIV(q*t, m, a + q*c + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (mod (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.7))
; NDIV(q*t, m, a + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (div (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ a (* (* q t) b)) (* q t)) (mod (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.8))
; not: q * t >= q
(assert (not (>= (* q t) q)))
(check-sat)
(pop 1)
(push 1)
; DIGIT_KEPT_LEFT.cut1
(declare-const q Int)
(declare-const t Int)
(declare-const m Int)
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; q >= 1
(assert (! (>= q 1) :named kind.q))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < q
(assert (! (< a q) :named hyp.1))
; c >= 0
(assert (! (>= c 0) :named hyp.2))
; c < t
(assert (! (< c t) :named hyp.3))
; MONO(c, t - 1, q)
(assert (! (=> (and (>= q 0) (<= c (- t 1))) (<= (* c q) (* (- t 1) q))) :named hint.0))
; MONO(0, c, q)
(assert (! (=> (and (>= q 0) (<= 0 c)) (<= (* 0 q) (* c q))) :named hint.1))
; MONO(1, t, q)
(assert (! (=> (and (>= q 0) (<= 1 t)) (<= (* 1 q) (* t q))) :named hint.2))
; DM(q*t, a + q*c + (q*t)*b, a + q*c, b)
(assert (! (=> (and (>= (* q t) 1) (>= (+ a (* q c)) 0) (< (+ a (* q c)) (* q t)) (= (+ (+ a (* q c)) (* (* q t) b)) (+ (+ a (* q c)) (* (* q t) b)))) (and (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (+ a (* q c))) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b))) :named hint.3))
; DM(q*t, a + (q*t)*b, a, b)
(assert (! (=> (and (>= (* q t) 1) (>= a 0) (< a (* q t)) (= (+ a (* (* q t) b)) (+ a (* (* q t) b)))) (and (= (mod (+ a (* (* q t) b)) (* q t)) a) (= (div (+ a (* (* q t) b)) (* q t)) b))) :named hint.4))
; DIVEQ(m, (a + q*c + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.5))
; DIVEQ(m, (a + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ a (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.6))
; NDIV(q*t, m, a + q*c + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (mod (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.7))
; NDIV(q*t, m, a + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (div (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ a (* (* q t) b)) (* q t)) (mod (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.8))
; cut 0: q * t >= q
(assert (! (>= (* q t) q) :named cut.0))
; not: (a + q * c + q * t * b) // (q * t) == b
(assert (not (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b)))
(check-sat)
(pop 1)
(push 1)
; DIGIT_KEPT_LEFT.cut2
(declare-const q Int)
(declare-const t Int)
(declare-const m Int)
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; q >= 1
(assert (! (>= q 1) :named kind.q))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < q
(assert (! (< a q) :named hyp.1))
; c >= 0
(assert (! (>= c 0) :named hyp.2))
; c < t
(assert (! (< c t) :named hyp.3))
; MONO(c, t - 1, q)
(assert (! (=> (and (>= q 0) (<= c (- t 1))) (<= (* c q) (* (- t 1) q))) :named hint.0))
; MONO(0, c, q)
(assert (! (=> (and (>= q 0) (<= 0 c)) (<= (* 0 q) (* c q))) :named hint.1))
; MONO(1, t, q)
(assert (! (=> (and (>= q 0) (<= 1 t)) (<= (* 1 q) (* t q))) :named hint.2))
; DM(q*t, a + q*c + (q*t)*b, a + q*c, b)
(assert (! (=> (and (>= (* q t) 1) (>= (+ a (* q c)) 0) (< (+ a (* q c)) (* q t)) (= (+ (+ a (* q c)) (* (* q t) b)) (+ (+ a (* q c)) (* (* q t) b)))) (and (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (+ a (* q c))) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b))) :named hint.3))
; DM(q*t, a + (q*t)*b, a, b)
(assert (! (=> (and (>= (* q t) 1) (>= a 0) (< a (* q t)) (= (+ a (* (* q t) b)) (+ a (* (* q t) b)))) (and (= (mod (+ a (* (* q t) b)) (* q t)) a) (= (div (+ a (* (* q t) b)) (* q t)) b))) :named hint.4))
; DIVEQ(m, (a + q*c + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.5))
; DIVEQ(m, (a + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ a (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.6))
; NDIV(q*t, m, a + q*c + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (mod (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.7))
; NDIV(q*t, m, a + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (div (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ a (* (* q t) b)) (* q t)) (mod (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.8))
; cut 0: q * t >= q
(assert (! (>= (* q t) q) :named cut.0))
; cut 1: (a + q * c + q * t * b) // (q * t) == b
(assert (! (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b) :named cut.1))
; not: (a + q * t * b) // (q * t) == b
(assert (not (= (div (+ a (* (* q t) b)) (* q t)) b)))
(check-sat)
(pop 1)
(push 1)
; DIGIT_KEPT_LEFT.cut3
(declare-const q Int)
(declare-const t Int)
(declare-const m Int)
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; q >= 1
(assert (! (>= q 1) :named kind.q))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < q
(assert (! (< a q) :named hyp.1))
; c >= 0
(assert (! (>= c 0) :named hyp.2))
; c < t
(assert (! (< c t) :named hyp.3))
; MONO(c, t - 1, q)
(assert (! (=> (and (>= q 0) (<= c (- t 1))) (<= (* c q) (* (- t 1) q))) :named hint.0))
; MONO(0, c, q)
(assert (! (=> (and (>= q 0) (<= 0 c)) (<= (* 0 q) (* c q))) :named hint.1))
; MONO(1, t, q)
(assert (! (=> (and (>= q 0) (<= 1 t)) (<= (* 1 q) (* t q))) :named hint.2))
; DM(q*t, a + q*c + (q*t)*b, a + q*c, b)
(assert (! (=> (and (>= (* q t) 1) (>= (+ a (* q c)) 0) (< (+ a (* q c)) (* q t)) (= (+ (+ a (* q c)) (* (* q t) b)) (+ (+ a (* q c)) (* (* q t) b)))) (and (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (+ a (* q c))) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b))) :named hint.3))
; DM(q*t, a + (q*t)*b, a, b)
(assert (! (=> (and (>= (* q t) 1) (>= a 0) (< a (* q t)) (= (+ a (* (* q t) b)) (+ a (* (* q t) b)))) (and (= (mod (+ a (* (* q t) b)) (* q t)) a) (= (div (+ a (* (* q t) b)) (* q t)) b))) :named hint.4))
; DIVEQ(m, (a + q*c + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.5))
; DIVEQ(m, (a + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ a (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.6))
; NDIV(q*t, m, a + q*c + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (mod (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.7))
; NDIV(q*t, m, a + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (div (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ a (* (* q t) b)) (* q t)) (mod (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.8))
; cut 0: q * t >= q
(assert (! (>= (* q t) q) :named cut.0))
; cut 1: (a + q * c + q * t * b) // (q * t) == b
(assert (! (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b) :named cut.1))
; cut 2: (a + q * t * b) // (q * t) == b
(assert (! (= (div (+ a (* (* q t) b)) (* q t)) b) :named cut.2))
; not: q * t >= 1
(assert (not (>= (* q t) 1)))
(check-sat)
(pop 1)
(push 1)
; DIGIT_KEPT_LEFT.cut4
(declare-const q Int)
(declare-const t Int)
(declare-const m Int)
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; q >= 1
(assert (! (>= q 1) :named kind.q))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < q
(assert (! (< a q) :named hyp.1))
; c >= 0
(assert (! (>= c 0) :named hyp.2))
; c < t
(assert (! (< c t) :named hyp.3))
; MONO(c, t - 1, q)
(assert (! (=> (and (>= q 0) (<= c (- t 1))) (<= (* c q) (* (- t 1) q))) :named hint.0))
; MONO(0, c, q)
(assert (! (=> (and (>= q 0) (<= 0 c)) (<= (* 0 q) (* c q))) :named hint.1))
; MONO(1, t, q)
(assert (! (=> (and (>= q 0) (<= 1 t)) (<= (* 1 q) (* t q))) :named hint.2))
; DM(q*t, a + q*c + (q*t)*b, a + q*c, b)
(assert (! (=> (and (>= (* q t) 1) (>= (+ a (* q c)) 0) (< (+ a (* q c)) (* q t)) (= (+ (+ a (* q c)) (* (* q t) b)) (+ (+ a (* q c)) (* (* q t) b)))) (and (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (+ a (* q c))) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b))) :named hint.3))
; DM(q*t, a + (q*t)*b, a, b)
(assert (! (=> (and (>= (* q t) 1) (>= a 0) (< a (* q t)) (= (+ a (* (* q t) b)) (+ a (* (* q t) b)))) (and (= (mod (+ a (* (* q t) b)) (* q t)) a) (= (div (+ a (* (* q t) b)) (* q t)) b))) :named hint.4))
; DIVEQ(m, (a + q*c + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.5))
; DIVEQ(m, (a + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ a (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.6))
; NDIV(q*t, m, a + q*c + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (mod (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.7))
; NDIV(q*t, m, a + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (div (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ a (* (* q t) b)) (* q t)) (mod (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.8))
; cut 0: q * t >= q
(assert (! (>= (* q t) q) :named cut.0))
; cut 1: (a + q * c + q * t * b) // (q * t) == b
(assert (! (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b) :named cut.1))
; cut 2: (a + q * t * b) // (q * t) == b
(assert (! (= (div (+ a (* (* q t) b)) (* q t)) b) :named cut.2))
; cut 3: q * t >= 1
(assert (! (>= (* q t) 1) :named cut.3))
; not: (a + q * c + q * t * b) // (q * t) // m == b // m
(assert (not (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m))))
(check-sat)
(pop 1)
(push 1)
; DIGIT_KEPT_LEFT.cut5
(declare-const q Int)
(declare-const t Int)
(declare-const m Int)
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; q >= 1
(assert (! (>= q 1) :named kind.q))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < q
(assert (! (< a q) :named hyp.1))
; c >= 0
(assert (! (>= c 0) :named hyp.2))
; c < t
(assert (! (< c t) :named hyp.3))
; MONO(c, t - 1, q)
(assert (! (=> (and (>= q 0) (<= c (- t 1))) (<= (* c q) (* (- t 1) q))) :named hint.0))
; MONO(0, c, q)
(assert (! (=> (and (>= q 0) (<= 0 c)) (<= (* 0 q) (* c q))) :named hint.1))
; MONO(1, t, q)
(assert (! (=> (and (>= q 0) (<= 1 t)) (<= (* 1 q) (* t q))) :named hint.2))
; DM(q*t, a + q*c + (q*t)*b, a + q*c, b)
(assert (! (=> (and (>= (* q t) 1) (>= (+ a (* q c)) 0) (< (+ a (* q c)) (* q t)) (= (+ (+ a (* q c)) (* (* q t) b)) (+ (+ a (* q c)) (* (* q t) b)))) (and (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (+ a (* q c))) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b))) :named hint.3))
; DM(q*t, a + (q*t)*b, a, b)
(assert (! (=> (and (>= (* q t) 1) (>= a 0) (< a (* q t)) (= (+ a (* (* q t) b)) (+ a (* (* q t) b)))) (and (= (mod (+ a (* (* q t) b)) (* q t)) a) (= (div (+ a (* (* q t) b)) (* q t)) b))) :named hint.4))
; DIVEQ(m, (a + q*c + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.5))
; DIVEQ(m, (a + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ a (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.6))
; NDIV(q*t, m, a + q*c + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (mod (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.7))
; NDIV(q*t, m, a + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (div (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ a (* (* q t) b)) (* q t)) (mod (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.8))
; cut 0: q * t >= q
(assert (! (>= (* q t) q) :named cut.0))
; cut 1: (a + q * c + q * t * b) // (q * t) == b
(assert (! (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b) :named cut.1))
; cut 2: (a + q * t * b) // (q * t) == b
(assert (! (= (div (+ a (* (* q t) b)) (* q t)) b) :named cut.2))
; cut 3: q * t >= 1
(assert (! (>= (* q t) 1) :named cut.3))
; cut 4: (a + q * c + q * t * b) // (q * t) // m == b // m
(assert (! (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) :named cut.4))
; not: (a + q * t * b) // (q * t) // m == b // m
(assert (not (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m))))
(check-sat)
(pop 1)
(push 1)
; DIGIT_KEPT_LEFT.cut6
(declare-const q Int)
(declare-const t Int)
(declare-const m Int)
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; q >= 1
(assert (! (>= q 1) :named kind.q))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < q
(assert (! (< a q) :named hyp.1))
; c >= 0
(assert (! (>= c 0) :named hyp.2))
; c < t
(assert (! (< c t) :named hyp.3))
; MONO(c, t - 1, q)
(assert (! (=> (and (>= q 0) (<= c (- t 1))) (<= (* c q) (* (- t 1) q))) :named hint.0))
; MONO(0, c, q)
(assert (! (=> (and (>= q 0) (<= 0 c)) (<= (* 0 q) (* c q))) :named hint.1))
; MONO(1, t, q)
(assert (! (=> (and (>= q 0) (<= 1 t)) (<= (* 1 q) (* t q))) :named hint.2))
; DM(q*t, a + q*c + (q*t)*b, a + q*c, b)
(assert (! (=> (and (>= (* q t) 1) (>= (+ a (* q c)) 0) (< (+ a (* q c)) (* q t)) (= (+ (+ a (* q c)) (* (* q t) b)) (+ (+ a (* q c)) (* (* q t) b)))) (and (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (+ a (* q c))) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b))) :named hint.3))
; DM(q*t, a + (q*t)*b, a, b)
(assert (! (=> (and (>= (* q t) 1) (>= a 0) (< a (* q t)) (= (+ a (* (* q t) b)) (+ a (* (* q t) b)))) (and (= (mod (+ a (* (* q t) b)) (* q t)) a) (= (div (+ a (* (* q t) b)) (* q t)) b))) :named hint.4))
; DIVEQ(m, (a + q*c + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.5))
; DIVEQ(m, (a + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ a (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.6))
; NDIV(q*t, m, a + q*c + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (mod (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.7))
; NDIV(q*t, m, a + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (div (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ a (* (* q t) b)) (* q t)) (mod (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.8))
; cut 0: q * t >= q
(assert (! (>= (* q t) q) :named cut.0))
; cut 1: (a + q * c + q * t * b) // (q * t) == b
(assert (! (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b) :named cut.1))
; cut 2: (a + q * t * b) // (q * t) == b
(assert (! (= (div (+ a (* (* q t) b)) (* q t)) b) :named cut.2))
; cut 3: q * t >= 1
(assert (! (>= (* q t) 1) :named cut.3))
; cut 4: (a + q * c + q * t * b) // (q * t) // m == b // m
(assert (! (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) :named cut.4))
; cut 5: (a + q * t * b) // (q * t) // m == b // m
(assert (! (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) :named cut.5))
; not: (a + q * c + q * t * b) // (q * t) // m == (a + q * c + q * t * b) // (q * t * m)
(assert (not (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)))))
(check-sat)
(pop 1)
(push 1)
; DIGIT_KEPT_LEFT.cut7
(declare-const q Int)
(declare-const t Int)
(declare-const m Int)
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; q >= 1
(assert (! (>= q 1) :named kind.q))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < q
(assert (! (< a q) :named hyp.1))
; c >= 0
(assert (! (>= c 0) :named hyp.2))
; c < t
(assert (! (< c t) :named hyp.3))
; MONO(c, t - 1, q)
(assert (! (=> (and (>= q 0) (<= c (- t 1))) (<= (* c q) (* (- t 1) q))) :named hint.0))
; MONO(0, c, q)
(assert (! (=> (and (>= q 0) (<= 0 c)) (<= (* 0 q) (* c q))) :named hint.1))
; MONO(1, t, q)
(assert (! (=> (and (>= q 0) (<= 1 t)) (<= (* 1 q) (* t q))) :named hint.2))
; DM(q*t, a + q*c + (q*t)*b, a + q*c, b)
(assert (! (=> (and (>= (* q t) 1) (>= (+ a (* q c)) 0) (< (+ a (* q c)) (* q t)) (= (+ (+ a (* q c)) (* (* q t) b)) (+ (+ a (* q c)) (* (* q t) b)))) (and (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (+ a (* q c))) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b))) :named hint.3))
; DM(q*t, a + (q*t)*b, a, b)
(assert (! (=> (and (>= (* q t) 1) (>= a 0) (< a (* q t)) (= (+ a (* (* q t) b)) (+ a (* (* q t) b)))) (and (= (mod (+ a (* (* q t) b)) (* q t)) a) (= (div (+ a (* (* q t) b)) (* q t)) b))) :named hint.4))
; DIVEQ(m, (a + q*c + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.5))
; DIVEQ(m, (a + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ a (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.6))
; NDIV(q*t, m, a + q*c + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (mod (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.7))
; NDIV(q*t, m, a + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (div (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ a (* (* q t) b)) (* q t)) (mod (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.8))
; cut 0: q * t >= q
(assert (! (>= (* q t) q) :named cut.0))
; cut 1: (a + q * c + q * t * b) // (q * t) == b
(assert (! (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b) :named cut.1))
; cut 2: (a + q * t * b) // (q * t) == b
(assert (! (= (div (+ a (* (* q t) b)) (* q t)) b) :named cut.2))
; cut 3: q * t >= 1
(assert (! (>= (* q t) 1) :named cut.3))
; cut 4: (a + q * c + q * t * b) // (q * t) // m == b // m
(assert (! (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) :named cut.4))
; cut 5: (a + q * t * b) // (q * t) // m == b // m
(assert (! (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) :named cut.5))
; cut 6: (a + q * c + q * t * b) // (q * t) // m == (a + q * c + q * t * b) // (q * t * m)
(assert (! (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) :named cut.6))
; not: (a + q * t * b) // (q * t) // m == (a + q * t * b) // (q * t * m)
(assert (not (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m)))))
(check-sat)
(pop 1)
(push 1)
; DIGIT_KEPT_LEFT
(declare-const q Int)
(declare-const t Int)
(declare-const m Int)
(declare-const a Int)
(declare-const b Int)
(declare-const c Int)
; q >= 1
(assert (! (>= q 1) :named kind.q))
; t >= 1
(assert (! (>= t 1) :named kind.t))
; m >= 1
(assert (! (>= m 1) :named kind.m))
; a >= 0
(assert (! (>= a 0) :named hyp.0))
; a < q
(assert (! (< a q) :named hyp.1))
; c >= 0
(assert (! (>= c 0) :named hyp.2))
; c < t
(assert (! (< c t) :named hyp.3))
; MONO(c, t - 1, q)
(assert (! (=> (and (>= q 0) (<= c (- t 1))) (<= (* c q) (* (- t 1) q))) :named hint.0))
; MONO(0, c, q)
(assert (! (=> (and (>= q 0) (<= 0 c)) (<= (* 0 q) (* c q))) :named hint.1))
; MONO(1, t, q)
(assert (! (=> (and (>= q 0) (<= 1 t)) (<= (* 1 q) (* t q))) :named hint.2))
; DM(q*t, a + q*c + (q*t)*b, a + q*c, b)
(assert (! (=> (and (>= (* q t) 1) (>= (+ a (* q c)) 0) (< (+ a (* q c)) (* q t)) (= (+ (+ a (* q c)) (* (* q t) b)) (+ (+ a (* q c)) (* (* q t) b)))) (and (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (+ a (* q c))) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b))) :named hint.3))
; DM(q*t, a + (q*t)*b, a, b)
(assert (! (=> (and (>= (* q t) 1) (>= a 0) (< a (* q t)) (= (+ a (* (* q t) b)) (+ a (* (* q t) b)))) (and (= (mod (+ a (* (* q t) b)) (* q t)) a) (= (div (+ a (* (* q t) b)) (* q t)) b))) :named hint.4))
; DIVEQ(m, (a + q*c + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.5))
; DIVEQ(m, (a + (q*t)*b) // (q*t), b)
(assert (! (=> (and (>= m 1) (= (div (+ a (* (* q t) b)) (* q t)) b)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (mod b m)))) :named hint.6))
; NDIV(q*t, m, a + q*c + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ (+ a (* q c)) (* (* q t) b)) (* q t)) (mod (mod (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.7))
; NDIV(q*t, m, a + (q*t)*b)
(assert (! (=> (and (>= (* q t) 1) (>= m 1)) (and (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m))) (= (mod (div (+ a (* (* q t) b)) (* q t)) m) (div (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))) (= (mod (+ a (* (* q t) b)) (* q t)) (mod (mod (+ a (* (* q t) b)) (* (* q t) m)) (* q t))))) :named hint.8))
; cut 0: q * t >= q
(assert (! (>= (* q t) q) :named cut.0))
; cut 1: (a + q * c + q * t * b) // (q * t) == b
(assert (! (= (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) b) :named cut.1))
; cut 2: (a + q * t * b) // (q * t) == b
(assert (! (= (div (+ a (* (* q t) b)) (* q t)) b) :named cut.2))
; cut 3: q * t >= 1
(assert (! (>= (* q t) 1) :named cut.3))
; cut 4: (a + q * c + q * t * b) // (q * t) // m == b // m
(assert (! (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div b m)) :named cut.4))
; cut 5: (a + q * t * b) // (q * t) // m == b // m
(assert (! (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div b m)) :named cut.5))
; cut 6: (a + q * c + q * t * b) // (q * t) // m == (a + q * c + q * t * b) // (q * t * m)
(assert (! (= (div (div (+ (+ a (* q c)) (* (* q t) b)) (* q t)) m) (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m))) :named cut.6))
; cut 7: (a + q * t * b) // (q * t) // m == (a + q * t * b) // (q * t * m)
(assert (! (= (div (div (+ a (* (* q t) b)) (* q t)) m) (div (+ a (* (* q t) b)) (* (* q t) m))) :named cut.7))
; not: (a + q * c + q * t * b) // (q * t * m) == (a + q * t * b) // (q * t * m)
(assert (not (= (div (+ (+ a (* q c)) (* (* q t) b)) (* (* q t) m)) (div (+ a (* (* q t) b)) (* (* q t) m)))))
(check-sat)
(pop 1)
