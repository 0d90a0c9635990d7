; NESTED_LAST: nested modes distribute, step c: r is a multiple of all extents but the last
; derived here
(set-logic ALL)
(push 1)
; NESTED_LAST.cut0
(declare-fun f (Int) Int)
(declare-const P Int)
(declare-const d Int)
(declare-const c Int)
(declare-const x Int)
(declare-const j Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.0))
; DIVDEF(P, x)
(assert (! (=> (>= P 1) (and (= x (+ (mod x P) (* P (div x P)))) (<= 0 (mod x P)) (< (mod x P) P))) :named hint.0))
; DM(P, x + (P*c)*j, x % P, x // P + c*j)
(assert (! (=> (and (>= P 1) (>= (mod x P) 0) (< (mod x P) P) (= (+ x (* (* P c) j)) (+ (mod x P) (* P (+ (div x P) (* c j)))))) (and (= (mod (+ x (* (* P c) j)) P) (mod x P)) (= (div (+ x (* (* P c) j)) P) (+ (div x P) (* c j))))) :named hint.1))
; DM(P, (P*c)*j, 0, c*j)
(assert (! (=> (and (>= P 1) (>= 0 0) (< 0 P) (= (* (* P c) j) (+ 0 (* P (* c j))))) (and (= (mod (* (* P c) j) P) 0) (= (div (* (* P c) j) P) (* c j)))) :named hint.2))
; not: (x + P * c * j) % P == x % P
(assert (not (= (mod (+ x (* (* P c) j)) P) (mod x P))))
(check-sat)
(pop 1)
(push 1)
; NESTED_LAST.cut1
(declare-fun f (Int) Int)
(declare-const P Int)
(declare-const d Int)
(declare-const c Int)
(declare-const x Int)
(declare-const j Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.0))
; DIVDEF(P, x)
(assert (! (=> (>= P 1) (and (= x (+ (mod x P) (* P (div x P)))) (<= 0 (mod x P)) (< (mod x P) P))) :named hint.0))
; DM(P, x + (P*c)*j, x % P, x // P + c*j)
(assert (! (=> (and (>= P 1) (>= (mod x P) 0) (< (mod x P) P) (= (+ x (* (* P c) j)) (+ (mod x P) (* P (+ (div x P) (* c j)))))) (and (= (mod (+ x (* (* P c) j)) P) (mod x P)) (= (div (+ x (* (* P c) j)) P) (+ (div x P) (* c j))))) :named hint.1))
; DM(P, (P*c)*j, 0, c*j)
(assert (! (=> (and (>= P 1) (>= 0 0) (< 0 P) (= (* (* P c) j) (+ 0 (* P (* c j))))) (and (= (mod (* (* P c) j) P) 0) (= (div (* (* P c) j) P) (* c j)))) :named hint.2))
; cut 0: (x + P * c * j) % P == x % P
(assert (! (= (mod (+ x (* (* P c) j)) P) (mod x P)) :named cut.0))
; not: (x + P * c * j) // P == x // P + c * j
(assert (not (= (div (+ x (* (* P c) j)) P) (+ (div x P) (* c j)))))
(check-sat)
(pop 1)
(push 1)
; NESTED_LAST.cut2
(declare-fun f (Int) Int)
(declare-const P Int)
(declare-const d Int)
(declare-const c Int)
(declare-const x Int)
(declare-const j Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.0))
; DIVDEF(P, x)
(assert (! (=> (>= P 1) (and (= x (+ (mod x P) (* P (div x P)))) (<= 0 (mod x P)) (< (mod x P) P))) :named hint.0))
; DM(P, x + (P*c)*j, x % P, x // P + c*j)
(assert (! (=> (and (>= P 1) (>= (mod x P) 0) (< (mod x P) P) (= (+ x (* (* P c) j)) (+ (mod x P) (* P (+ (div x P) (* c j)))))) (and (= (mod (+ x (* (* P c) j)) P) (mod x P)) (= (div (+ x (* (* P c) j)) P) (+ (div x P) (* c j))))) :named hint.1))
; DM(P, (P*c)*j, 0, c*j)
(assert (! (=> (and (>= P 1) (>= 0 0) (< 0 P) (= (* (* P c) j) (+ 0 (* P (* c j))))) (and (= (mod (* (* P c) j) P) 0) (= (div (* (* P c) j) P) (* c j)))) :named hint.2))
; cut 0: (x + P * c * j) % P == x % P
(assert (! (= (mod (+ x (* (* P c) j)) P) (mod x P)) :named cut.0))
; cut 1: (x + P * c * j) // P == x // P + c * j
(assert (! (= (div (+ x (* (* P c) j)) P) (+ (div x P) (* c j))) :named cut.1))
; not: f((x + P * c * j) % P) + (x + P * c * j) // P * d == f(x % P) + (x // P + c * j) * d
(assert (not (= (+ (f (mod (+ x (* (* P c) j)) P)) (* (div (+ x (* (* P c) j)) P) d)) (+ (f (mod x P)) (* (+ (div x P) (* c j)) d)))))
(check-sat)
(pop 1)
(push 1)
; NESTED_LAST.cut3
(declare-fun f (Int) Int)
(declare-const P Int)
(declare-const d Int)
(declare-const c Int)
(declare-const x Int)
(declare-const j Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.0))
; DIVDEF(P, x)
(assert (! (=> (>= P 1) (and (= x (+ (mod x P) (* P (div x P)))) (<= 0 (mod x P)) (< (mod x P) P))) :named hint.0))
; DM(P, x + (P*c)*j, x % P, x // P + c*j)
(assert (! (=> (and (>= P 1) (>= (mod x P) 0) (< (mod x P) P) (= (+ x (* (* P c) j)) (+ (mod x P) (* P (+ (div x P) (* c j)))))) (and (= (mod (+ x (* (* P c) j)) P) (mod x P)) (= (div (+ x (* (* P c) j)) P) (+ (div x P) (* c j))))) :named hint.1))
; DM(P, (P*c)*j, 0, c*j)
(assert (! (=> (and (>= P 1) (>= 0 0) (< 0 P) (= (* (* P c) j) (+ 0 (* P (* c j))))) (and (= (mod (* (* P c) j) P) 0) (= (div (* (* P c) j) P) (* c j)))) :named hint.2))
; cut 0: (x + P * c * j) % P == x % P
(assert (! (= (mod (+ x (* (* P c) j)) P) (mod x P)) :named cut.0))
; cut 1: (x + P * c * j) // P == x // P + c * j
(assert (! (= (div (+ x (* (* P c) j)) P) (+ (div x P) (* c j))) :named cut.1))
; cut 2: f((x + P * c * j) % P) + (x + P * c * j) // P * d == f(x % P) + (x // P + c * j) * d
(assert (! (= (+ (f (mod (+ x (* (* P c) j)) P)) (* (div (+ x (* (* P c) j)) P) d)) (+ (f (mod x P)) (* (+ (div x P) (* c j)) d))) :named cut.2))
; not: f(P * c * j % P) + P * c * j // P * d == c * j * d
(assert (not (= (+ (f (mod (* (* P c) j) P)) (* (div (* (* P c) j) P) d)) (* (* c j) d))))
(check-sat)
(pop 1)
(push 1)
; NESTED_LAST
(declare-fun f (Int) Int)
(declare-const P Int)
(declare-const d Int)
(declare-const c Int)
(declare-const x Int)
(declare-const j Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; f(0) == 0
(assert (! (= (f 0) 0) :named hyp.0))
; DIVDEF(P, x)
(assert (! (=> (>= P 1) (and (= x (+ (mod x P) (* P (div x P)))) (<= 0 (mod x P)) (< (mod x P) P))) :named hint.0))
; DM(P, x + (P*c)*j, x % P, x // P + c*j)
(assert (! (=> (and (>= P 1) (>= (mod x P) 0) (< (mod x P) P) (= (+ x (* (* P c) j)) (+ (mod x P) (* P (+ (div x P) (* c j)))))) (and (= (mod (+ x (* (* P c) j)) P) (mod x P)) (= (div (+ x (* (* P c) j)) P) (+ (div x P) (* c j))))) :named hint.1))
; DM(P, (P*c)*j, 0, c*j)
(assert (! (=> (and (>= P 1) (>= 0 0) (< 0 P) (= (* (* P c) j) (+ 0 (* P (* c j))))) (and (= (mod (* (* P c) j) P) 0) (= (div (* (* P c) j) P) (* c j)))) :named hint.2))
; cut 0: (x + P * c * j) % P == x % P
(assert (! (= (mod (+ x (* (* P c) j)) P) (mod x P)) :named cut.0))
; cut 1: (x + P * c * j) // P == x // P + c * j
(assert (! (= (div (+ x (* (* P c) j)) P) (+ (div x P) (* c j))) :named cut.1))
; cut 2: f((x + P * c * j) % P) + (x + P * c * j) // P * d == f(x % P) + (x // P + c * j) * d
(assert (! (= (+ (f (mod (+ x (* (* P c) j)) P)) (* (div (+ x (* (* P c) j)) P) d)) (+ (f (mod x P)) (* (+ (div x P) (* c j)) d))) :named cut.2))
; cut 3: f(P * c * j % P) + P * c * j // P * d == c * j * d
(assert (! (= (+ (f (mod (* (* P c) j) P)) (* (div (* (* P c) j) P) d)) (* (* c j) d)) :named cut.3))
; not: f((x + P * c * j) % P) + (x + P * c * j) // P * d == f(x % P) + x // P * d + (f(P * c * j % P) + P * c * j // P * d)
(assert (not (= (+ (f (mod (+ x (* (* P c) j)) P)) (* (div (+ x (* (* P c) j)) P) d)) (+ (+ (f (mod x P)) (* (div x P) d)) (+ (f (mod (* (* P c) j) P)) (* (div (* (* P c) j) P) d))))))
(check-sat)
(pop 1)
