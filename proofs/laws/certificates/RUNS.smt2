; RUNS: step, run by run: after all runs of all modes of B, the digits of R weighed with the values of the runs add to A(B(c))
; derived here; the loops around the runs of `layouts.compose`
(set-logic ALL)
(push 1)
; RUNS
(declare-fun A (Int) Int)
(declare-const x Int)
(declare-const k Int)
(declare-const s Int)
(declare-const V Int)
(declare-const v Int)
; A(x) == V
(assert (! (= (A x) V) :named hyp.0))
; A(x + k * s) == A(x) + k * A(s)
(assert (! (= (A (+ x (* k s))) (+ (A x) (* k (A s)))) :named hyp.1))
; v == A(s)
(assert (! (= v (A s)) :named hyp.2))
; not: A(x + k * s) == V + k * v
(assert (not (= (A (+ x (* k s))) (+ V (* k v)))))
(check-sat)
(pop 1)
