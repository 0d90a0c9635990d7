; CARRY_BREAKS: the other half: a carry in any mode i breaks distributivity for the strides that see mode i alone
; derived here
(set-logic ALL)
(push 1)
; CARRY_BREAKS
(declare-const P Int)
(declare-const M Int)
(declare-const z Int)
(declare-const u Int)
; P >= 1
(assert (! (>= P 1) :named kind.P))
; M >= 1
(assert (! (>= M 1) :named kind.M))
; u >= M
(assert (! (>= u M) :named hyp.0))
; DIVDEF(M, z // P)
(assert (! (=> (>= M 1) (and (= (div z P) (+ (mod (div z P) M) (* M (div (div z P) M)))) (<= 0 (mod (div z P) M)) (< (mod (div z P) M) M))) :named hint.0))
; not: z // P % M != u
(assert (not (distinct (mod (div z P) M) u)))
(check-sat)
(pop 1)
