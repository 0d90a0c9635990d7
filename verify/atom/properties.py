# SPDX-License-Identifier: Apache-2.0
"""The properties of an atom: the table `PROPERTIES`, one row (`SIZE`, `OWNERSHIP`, `EQUALS`, ...) each.

A row says where a property applies (MMA or copy atoms), what a claim of it states, by which functions of (run, atom,
operand) it is checked, what it needs (`needs_confirmed`, ...), and what its evidence depends on. Reports are in this
order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from layouts.atoms import CopyAtom
from verify.atom import relabelling
from verify.atom.cache_keys import layout_key, observed_key, operand_key, product_key
from verify.atom.copies import COPY_OPERANDS, fits_copy, gives_names, same_bits
from verify.atom.mnemonic import fits
from verify.binding.atom import BoundAtom, NamedInstruction
from verify.binding.bound import BoundMaps
from verify.binding.operand import BoundOperand
from verify.core.verdict import (
    Check,
    CheckFunction,
    Evidence,
    Need,
    Property,
    Scope,
    Statement,
    Status,
    Verdict,
    leave_unchecked,
)
from verify.core.wording import owners, times
from verify.evidence import isa, proof, proof_family
from verify.evidence.product import product
from verify.evidence.run import Run, first, needs_confirmed

MMA, COPY, EVERY_POINT = "mma", "copy", "every point"
NUMBERS = {3: "three", 4: "four", 5: "five", 6: "six"}  # operands of an instruction, as its claims spell them


# What a claim states


def of_operand(words: Callable[[BoundMaps, BoundOperand], str]) -> Callable[[BoundMaps, BoundOperand], Statement]:
    """Return what states a claim about an operand that rests on no formula."""
    return lambda atom, operand: Statement(operand.name, words(atom, operand))


def _numbers_lanes(atom: BoundAtom, _: None) -> Statement:
    order = "in the order of its operands" if atom.permuted else "once"
    return Statement("thr", f"threads {atom.thr_text} with their replicas number the {atom.lanes} lanes {order}")


def _parses(atom: BoundMaps, operand: BoundOperand) -> str:
    return f"{operand.text} is a (thread, {'bit' if atom.is_copy else 'value'}) layout with congruent profiles"


def _size(atom: BoundMaps, operand: BoundOperand) -> str:
    if atom.is_copy:
        return f"has as many threads and bits as {'the instruction' if operand.formulas else 'its bits'}"
    fragment = "the instruction's fragment" if operand.formulas else "its tile needs"
    return f"has as many threads and values as {fragment}"


def _in_bounds(atom: BoundMaps, operand: BoundOperand) -> str:
    return f"names bits 0..{operand.extent[0] - 1}" if atom.is_copy else f"stays inside {operand.tile}"


def _owners(atom: BoundMaps, operand: BoundOperand) -> str:
    count = atom.multiplicity(operand)
    if atom.is_copy:
        return f"names each of {operand.extent[0]} bits {times(count)}"
    return f"gives each element of {operand.tile} {owners(count)}"


def _equals(atom: BoundMaps, operand: BoundOperand) -> Statement:
    """Return the claim of equality: it cites the formula of each instruction of an MMA, of a copy's first."""
    views = [operand] if atom.is_copy else [p for view in atom.views for p in view.parts if p.name == operand.name]
    cited = dict.fromkeys(part.formulas[0].citation for part in views if part.formulas)
    return Statement(operand.name, f"equals {' and '.join(cited) or 'the PTX ISA'}", rests_on(views))


def rests_on(operands: Iterable[BoundOperand]) -> str:
    """Return the provenance of the formulas of some operands."""
    return " | ".join(dict.fromkeys(formula.provenance for part in operands for formula in part.formulas))


def _fits(atom: BoundAtom, named: NamedInstruction | None) -> Statement:
    mnemonic = "no instruction" if named is None else named.mnemonic
    if atom.is_copy:
        listed = ["threads", "widths"]["thr" in atom.atom.taken :]
        return Statement("", f"{', '.join(listed)} and multiplicities fit {mnemonic}")
    words = {"shape": f"extents {_shape(atom)}", "thr": "threads", "types": "types"}
    taken = {**atom.atom.taken, "shape": ""} if atom.shape_fault else atom.atom.taken
    checked = [word for key, word in words.items() if key not in taken] or ["operands"]
    return Statement("", f"{' and '.join(filter(None, [', '.join(checked[:-1]), checked[-1]]))} fit {mnemonic}")


def _shape(atom: BoundMaps) -> str:
    return "x".join(map(str, atom.shape))


def _multiplies(atom: BoundMaps, _: None) -> Statement:
    through = f"through its {NUMBERS[len(atom.parts)]} maps alone equals numpy's"
    return Statement("", f"the {_shape(atom)} product {through}", rests_on(atom.parts))


def _tiles(atom: BoundMaps, _: None) -> Statement:
    once = all(atom.multiplicity(part) == 1 for part in atom.parts)
    many = f"atoms each element has {'one owner' if once else 'as many owners as in one atom'}"
    return Statement("", f"in tiles of {_shape(atom)} {many}, for every count of atoms and tiles")


def _compare_recordings(atom: BoundMaps, _: None) -> Statement:
    copied = Statement("bytes", "every byte moves as recorded")
    return copied if atom.is_copy else Statement("", "A, B and D interact as recorded")


# What a property needs: why it cannot be checked, or nothing


def gives_operand(atom: BoundMaps, operand: BoundOperand) -> bool:
    """Whether the atom gives an operand; one that it omits has only a name and the reason why nothing is known."""
    return any(operand is part for part in atom.parts)


def _laid_out(atom: BoundMaps, operand: BoundOperand, _: Sequence[Verdict]) -> str:
    fault = "" if operand.well_formed else "the layout is not well formed"
    return fault if gives_operand(atom, operand) else operand.no_formula


def _shape_fits(atom: BoundMaps, *_: object) -> str:
    return f"the shape is at fault: {atom.shape_fault}" if atom.shape_fault else ""


def _lanes_numbered(atom: BoundMaps, *_: object) -> str:
    return f"the threads are at fault: {atom.thr_fault}" if atom.thr_fault else ""


def _is_known(atom: BoundMaps, *_: object) -> str:
    return atom.no_instruction


def _not_refuted(premise: Property) -> Need:
    """Return that another property of the operand, from which this one follows, is not refuted."""

    def need(_: BoundMaps, operand: BoundOperand, before: Sequence[Verdict]) -> str:
        refuted = [v.claim.part for v in before if v.claim.prop == premise and v.status is Status.REFUTED]
        return f"it fails with {premise.words!r}, from which it follows" if operand.name in refuted else ""

    return need


# What could not be compared, besides what was


def _name_unobserved(atom: BoundMaps, _: None) -> Iterable[str]:
    if atom.by is None or atom.shape_fault:
        return ()
    return [*atom.uncompared_reasons, *(not_given(atom, operand) for operand in atom.omitted_operands)]


def not_given(atom: BoundMaps, operand: str) -> str:
    """Why nothing is known of an operand that the atom omits."""
    return f"the atom does not give {operand}, which {atom.omitted_operands[operand]} takes from registers"


# What the checks find


def read_form(operand: BoundOperand) -> list[Evidence]:
    """Return the evidence that a layout parses with congruent profiles, and that a second parser reads the same."""
    if operand.map is None:
        return [isa.form("parsed", operand.fault or f"{operand.text} isn't a layout")]
    if operand.layout is None:
        return [isa.form("parsed", "")]
    return isa.read_again(operand.text, operand.layout)


def at_points(find: Callable[[BoundMaps, BoundOperand], isa.Finding]) -> CheckFunction:
    """Return the check of one operand at every point of its domain."""
    return lambda run, atom, operand: [isa.compare_points(lambda: find(atom, operand), operand.points)]


def of_strides(check: CheckFunction) -> CheckFunction:
    """Return the proof about a plain layout; none of another map, which has every point compared."""
    return lambda run, atom, operand: [] if operand.layout is None else check(run, atom, operand)


def by_solver(prove: proof.Prove) -> CheckFunction:
    """Return the check of an operand's layout on its tile by the solver."""
    return lambda run, _, operand: [prove(operand.points, run.budget, run.solver)]


def _equals_formulas(run: Run, atom: BoundMaps, operand: BoundOperand) -> list[Evidence]:
    return [proof.equals(atom, operand, run.budget, run.solver)]


def _for_family(which: str) -> CheckFunction:
    """Return the proof about one operand of all members of a family at once.

    No evidence if no argument covers them all.
    """

    def check(run: Run, atom: BoundMaps, operand: BoundOperand) -> list[Evidence]:
        if not isinstance(atom, BoundAtom) or atom.atom.family is None:
            return []
        scope, prove = proof_family.scope(atom, operand), proof_family.PROVE[which]
        if scope is None:
            return []
        evidence = run.memo.get((Check.PROOF, prove, scope), lambda: prove(atom, operand, run.budget, run.solver))
        return [evidence] if evidence else []

    return check


def _certify(run: Run, atom: BoundMaps, operand: BoundOperand) -> list[Evidence]:
    """Ownership proved by the solver, and by a certificate that needs no solver."""
    return proof.prove_ownership(operand.points, atom.multiplicity(operand), run.budget, run.solver)


def _follows_from(premise: Property) -> CheckFunction:
    """Return the proof that a property follows from ownership: with one owner for each element, none is outside."""

    def check(run: Run, atom: BoundMaps, operand: BoundOperand) -> list[Evidence]:
        once = atom.multiplicity(operand) == 1
        if once and run.check(Check.PROOF, premise, atom, operand)[0].status is Status.PROVED:
            return [Evidence(Check.PROOF, Status.PROVED, f"follows from {premise.words!r}")]
        return []

    return check


def _looked_up(run: Run, atom: BoundAtom, named: NamedInstruction | None) -> list[Evidence]:
    if named is None:
        return [leave_unchecked(Check.ISA, atom.no_instruction)]
    return [fits_copy(atom, atom.atom, named) if isinstance(atom.atom, CopyAtom) else fits(atom, named)]


def _one_product(run: Run, atom: BoundAtom, named: NamedInstruction | None) -> list[Evidence]:
    """Return the proof that all threads work for one product; if the atom does not fit otherwise, only a refutation."""
    if named is None or named.instruction is None or atom.is_copy:
        return []
    evidence = proof.one_product(atom.seen_by(named.instruction), run.budget, run.solver)
    refuted = bool(evidence) and fits(atom, named).status is Status.REFUTED
    return [e for e in evidence if not refuted or e.status is Status.REFUTED]


def _prove_relation(run: Run, atom: BoundMaps, _: None) -> list[Evidence]:
    if atom.is_copy:
        from verify.atom.copy_gpu import compare_moves

        return compare_moves(atom, run.recordings)
    from verify.evidence import gpu

    return gpu.relation(atom, run.recordings, run.memo)


# The table


def _whole_layout(atom: BoundMaps, operand: BoundOperand) -> bool:
    """Whether the layout of an operand is checked: not of Ref of a copy, nor of an operand that is not given."""
    return gives_operand(atom, operand) and (not atom.is_copy or operand.name in COPY_OPERANDS)


LAID_OUT = (_laid_out, _shape_fits, _lanes_numbered)
_of_layout = partial(
    Property, scope=Scope.OPERAND, applies=_whole_layout, needs=LAID_OUT, reads=operand_key, alike=layout_key
)

SHAPE = Property(
    "shape",
    "threads",
    words="size",
    says={MMA: "extents M, N, K are the instruction's (claimed only where they are not)"},
    states=lambda atom, _: Statement("shape", f"{_shape(atom)} is the shape of its instruction"),
    applies=lambda atom, _: bool(atom.shape_fault),
    isa=lambda run, atom, _: [isa.form("compared", atom.shape_fault)],
    how=("compared", "", ""),
    form=True,
)
THREADS = Property(
    "threads",
    "threads",
    words="well formed",
    says=dict.fromkeys((MMA, COPY), "thr(t) + rep(q) is every lane once"),
    states=_numbers_lanes,
    applies=lambda atom, _: isinstance(atom, BoundAtom) and "thr" not in atom.atom.taken,
    isa=lambda run, atom, _: [isa.form("walked", atom.thr_fault)],  # in plain integers, while the atom was bound
    how=("walked", "", ""),
    form=True,
)
WELL_FORMED = Property(
    "well_formed",
    Scope.OPERAND,
    says=dict.fromkeys((MMA, COPY), "the layout parses, shape and stride have one profile, rank 2"),
    states=of_operand(_parses),
    applies=gives_operand,
    isa=lambda run, atom, operand: read_form(operand),
    how=("parsed", "", ""),
    alike=layout_key,
    form=True,
)
SIZE = _of_layout(
    "size",
    says={MMA: "as many threads and values as the instruction's fragment", COPY: "as many threads and bits"},
    states=of_operand(_size),
    isa=at_points(isa.fragment_size),
    reads=lambda *read: (operand_key(*read), read[-1].name),  # what is wrong names the operand
    how=("counted", "", ""),
    form=True,
)
OWNERSHIP = _of_layout(
    "ownership",
    says={
        MMA: "each element has as many owners as the ISA tables state",
        COPY: "each bit named once, or as often as several threads give its address",
    },
    states=of_operand(_owners),
    isa=at_points(lambda atom, operand: isa.ownership(operand.points, atom.multiplicity(operand))),
    proof=of_strides(first(_for_family("ownership"), _certify)),
    how=(EVERY_POINT, "z3", ""),
)
IN_BOUNDS = _of_layout(
    "in_bounds",
    says={MMA: "no value outside the tile", COPY: "no bit beyond the last"},
    states=of_operand(_in_bounds),
    isa=at_points(lambda _, operand: isa.in_bounds(operand.points)),
    proof=of_strides(first(_for_family("ownership"), _follows_from(OWNERSHIP), by_solver(proof.in_bounds))),
    how=(EVERY_POINT, "follows from *ownership*, else z3", ""),
)
EQUALS = _of_layout(
    "equals_isa",
    says={
        MMA: "for every logical thread t, replica q, value v: ISA(thr(t) + rep(q), v) = L(t, v)",
        COPY: "each bit of an operand has the name of the bit that the instruction moves there or from there",
    },
    states=_equals,
    applies=lambda atom, operand: (
        not atom.is_copy or (operand.name in COPY_OPERANDS and not gives_names(atom, operand))
    ),
    isa=at_points(isa.equals),
    proof=of_strides(first(_for_family("equals"), _equals_formulas)),
    how=(EVERY_POINT, "z3", ""),
    needs=(*LAID_OUT, lambda atom, operand, _: "" if operand.formulas else atom.no_instruction or operand.no_formula),
    gaps=lambda atom, operand: atom.uncompared_reasons if atom.by is not None and gives_operand(atom, operand) else (),
    required=frozenset({Check.ISA, Check.PROOF}),
)
RIGHT_INVERSE = _of_layout(
    "right_inverse",
    says={MMA: "L(R(k)) = k on the whole tile, R its right inverse"},
    states=of_operand(lambda _, operand: f"its right inverse composed with it is the identity on {operand.tile}"),
    applies=gives_operand,
    isa=at_points(isa.inverse_holds),
    proof=of_strides(first(_for_family("inverse"), _follows_from(OWNERSHIP), by_solver(proof.inverse))),
    how=(EVERY_POINT, "follows from *ownership*, else z3", ""),
    needs=(*LAID_OUT, _not_refuted(OWNERSHIP)),
)
SIGNATURE = Property(
    "signature",
    Scope.INSTRUCTION,
    says={
        MMA: "of each mnemonic in `ptx`: it exists; extents, lanes and types are the instruction's",
        COPY: "a copy; threads, spaces, widths and multiplicities are the instruction's",
    },
    states=_fits,
    applies=lambda atom, _: isinstance(atom, BoundAtom),  # maps alone state no types
    isa=_looked_up,
    proof=_one_product,
    how=("looked up", {MMA: "z3, where it makes several products"}, ""),
    form=True,
)
RELABEL = Property(
    "relabel",
    says={MMA: "a declared relabelling is a permutation of its axis that keeps scales, metadata and addresses"},
    states=relabelling.state_claim,
    applies=lambda atom, _: not atom.is_copy and bool(atom.relabel),
    isa=lambda run, atom, _: relabelling.check_declared(atom),
    how=(EVERY_POINT, "", ""),
    needs=(_shape_fits,),
    form=True,
)
PRODUCT = Property(
    "product",
    says={MMA: "a random exact product through the three maps alone equals numpy's"},
    states=_multiplies,
    isa=lambda run, atom, _: [product(atom)],
    gpu=lambda run, atom, _: run.multiply(atom) if run.multiply else [],
    how=("sampled", "", "sampled, with `--live`"),
    needs=(
        needs_confirmed(SHAPE, SIZE, IN_BOUNDS, RELABEL),
        _is_known,
        _lanes_numbered,
        lambda atom, *_: next((part.no_formula for part in atom.parts if part.no_formula), ""),
    ),
    reads=product_key,
)
TILING = Property(
    "tiling",
    says={MMA: "in any number of atoms and tiles each element has one owner (premise: *ownership*)"},
    states=_tiles,
    proof=lambda run, *_: [proof.tiling(run.budget, run.solver)],
    how=("", "z3, uninterpreted atom", ""),
    needs=(needs_confirmed(OWNERSHIP),),
    reads=lambda *_: "for every atom",
)
SAME_BITS = Property(
    "same_bits",
    says={COPY: "Src and Dst name the same bits, and Ref is one of the two"},
    states=lambda *_: Statement("bits", "Src and Dst name the same bits, and Ref is one of them"),
    isa=lambda run, atom, _: [same_bits(atom)],
    how=(EVERY_POINT, "", ""),
    reads=lambda check, atom, _: tuple(part.text for part in atom.parts),
    form=True,  # nothing else is claimed of Ref
)
RELATION = Property(
    "relation",
    says={MMA: "A, B and D interact as recorded, up to one relabelling", COPY: "every byte moves as recorded"},
    states=_compare_recordings,
    gpu=_prove_relation,
    how=("", "", "observed"),
    needs=(_shape_fits, _is_known),
    gaps=_name_unobserved,
    reads=observed_key,
    required=frozenset({Check.GPU}),
)
EQUALS_ABSOLUTE = Property(
    "equals_absolute",
    says={MMA: "rows and columns are the absolute coordinates that ldmatrix, stmatrix and descriptors give"},
    states=lambda *_: Statement("", "its labels are the absolute coordinates of ldmatrix, stmatrix and descriptors"),
    gpu=relabelling.absolute,
    how=("", "", "observed"),
    needs=(_shape_fits, _is_known),
    gaps=_name_unobserved,
    reads=observed_key,
)
TAKEN = Property("taken")  # a key that an entry leaves to its instruction: there is nothing to check
PROPERTIES = (
    SHAPE, THREADS,
    WELL_FORMED, SIZE, IN_BOUNDS, OWNERSHIP, EQUALS, RIGHT_INVERSE,
    SIGNATURE,
    RELABEL, PRODUCT, TILING, SAME_BITS, RELATION, EQUALS_ABSOLUTE,
)  # fmt: skip
