# SPDX-License-Identifier: Apache-2.0
"""Atoms that name several instructions: each is compared at its own sizes, and one that was not compared is no pass."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from isa_tables.mnemonic import list_parts
from isa_tables.signature import mnemonics
from layouts.atoms import AnyAtom, Atom, AtomFileError, CopyAtom, load, registry
from tests.samples import many
from tests.verify.entries import as_atom
from verify.atlas.without_atom import NoAtom
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS, SIGNATURE
from verify.core.verdict import Check, Property, Status, Verdict
from verify.report import Case, Expectation, Report

K16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


K8 = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"


BLOCK32 = "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32"


SCALE_2X = "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X"


ENTRY = """
["{name}"]
ptx = {ptx}
shape = [16, 8, 16]
thr = "32:1"
types = {{ D = "f32", A = "f16", B = "f16", C = "f32" }}
A = "((4,8),(2,2,2)):((32,1),(16,8,128))"
B = "((4,8),(2,2)):((16,1),(8,64))"
C = "((4,8),(2,2)):((32,1),(16,8))"
source = "a test"
"""


@pytest.fixture(scope="module")
def checker() -> AtomChecker:
    return AtomChecker()


def write_atom(folder: Path, ptx: str, **more: str) -> AnyAtom:
    path = folder / "one.toml"
    path.write_text(ENTRY.format(name="MINE", ptx=ptx) + "".join(f"{key} = {value}\n" for key, value in more.items()))
    return load(path)[0]


def case(atom: AnyAtom, checker: AtomChecker) -> Case:
    return Case(atom.name, tuple(checker.verify(atom)), expects=Expectation(atom.known_defect or "", atom.expect or ""))


def list_verdicts(verified: Case, prop: Property, part: str = "") -> list[Verdict]:
    return [v for v in verified.verdicts if v.claim.prop == prop and v.claim.part == part]


def refutations(verified: Case) -> list[str]:
    """Every refuted claim with its counterexample."""
    wrong = [(v.claim.text, v.counterexample) for v in verified.verdicts if v.status is Status.REFUTED]
    return [f"{text}: {reported.statement if reported else ''}" for text, reported in wrong]


def quote(*names: str) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


# what is issued, in order
def test_an_instruction_of_other_sizes_is_refuted_by_name_and_the_right_one_is_not(
    tmp_path: Path, checker: AtomChecker
) -> None:
    for order in ((K16, K8), (K8, K16)):
        verified = case(write_atom(tmp_path, quote(*order)), checker)
        signatures = {v.claim.text.split()[-1]: v.status for v in list_verdicts(verified, SIGNATURE)}
        assert verified.status == "REFUTED" and signatures == {K16: Status.PROVED, K8: Status.REFUTED}
        (equals,) = list_verdicts(verified, EQUALS, "A")
        assert equals.status is Status.REFUTED and equals.counterexample is not None
        assert f"by {K8}: " in equals.counterexample.statement and not equals.counterexample.repair
        assert "9.7.14.5.7 " in equals.claim.text and "9.7.14.5.8 " in equals.claim.text
        assert {e.check for e in equals.evidence} == {Check.ISA, Check.PROOF}
        assert not verified.contradiction


def sample_mnemonics() -> list[str]:
    """One mnemonic of each family and shape that an atom can be made of; of wgmma, which has every N, the first."""
    chosen: dict[tuple[str, str | None], str] = {}
    for name in mnemonics("*"):
        key = list_parts(name)
        chosen.setdefault((key.family, None if key.head == "wgmma" else key.shape), name)
    return [name for name in chosen.values() if has_atom(name)]


def has_atom(mnemonic: str) -> bool:
    try:
        return bool(as_atom(mnemonic))
    except NoAtom:
        return False


def pairs(count: int) -> Iterator[tuple[str, str]]:
    """Every ordered pair of so many mnemonics of the sample."""
    every = sample_mnemonics()
    return permutations(every[:: len(every) // count][:count], 2)


@pytest.mark.long
@pytest.mark.parametrize(
    ("checks", "count"),
    [
        ({Check.ISA, Check.GPU}, 9),
        ({Check.PROOF}, 6),
        pytest.param(frozenset(Check), min(many(9), 18), marks=pytest.mark.slow),
    ],
)
def test_no_pair_of_mnemonics_fails_nor_is_verified_where_one_does_not_fit(checks: set[Check], count: int) -> None:
    checker, reported = AtomChecker(frozenset(checks)), set()
    for first, second in pairs(count):
        atom = as_atom(first)
        both = case(replace(atom, ptx=(first, second)), checker)
        try:
            alone = case(replace(atom, ptx=(second,)), checker).status
        except AtomFileError as error:
            alone = str(error)
        assert both.status != "VERIFIED" or alone == "VERIFIED", (first, second)
        assert not both.contradiction, (first, second)
        assert both.status != "REFUTED" or any(second in line for line in refutations(both)), (first, second)
        reported.add(both.status)
    assert "REFUTED" in reported


@pytest.mark.parametrize("family", ["wmma.load.a", "wmma.load.b", "wmma.load.c", "wmma.store.d"])
def test_a_copy_by_an_instruction_whose_operand_the_isa_leaves_open_is_unchecked(
    family: str, checker: AtomChecker
) -> None:
    """The ISA does not specify which element a lane holds: the operands are counted, and nothing is compared."""
    atom = as_atom("ldmatrix.sync.aligned.m8n8.x4.shared.b16")
    assert isinstance(atom, CopyAtom)
    named = next(name for name in mnemonics("wmma*") if name.startswith(family))
    verified = case(replace(atom, ptx=(named,)), checker)
    missing = [v for part in ("Src", "Dst") for v in list_verdicts(verified, EQUALS, part)]
    assert len(missing) == 2 and all(v.status is Status.UNCHECKED and "unspecified" in v.reason for v in missing)
    assert verified.status != "VERIFIED"
    both = case(replace(atom, ptx=(*(atom.ptx or ()), named)), checker)
    assert both.status not in ("VERIFIED", "CONTRADICTION")


def test_two_instructions_that_each_make_the_whole_product_are_one_too_many(
    tmp_path: Path, checker: AtomChecker
) -> None:
    sibling = "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.{}.popc"
    atom = as_atom(sibling.format("xor"))
    assert isinstance(atom, Atom)
    verified = case(replace(atom, ptx=(sibling.format("xor"), sibling.format("and"))), checker)
    assert verified.status == "REFUTED"
    said = [v.counterexample.statement for v in list_verdicts(verified, SIGNATURE) if v.counterexample is not None]
    assert len(said) == 1 and "nested list" in said[0]


# what nobody compared
@pytest.mark.parametrize("require", ["isa", "proof", "gpu"])
def test_an_instruction_of_a_family_without_a_table_leaves_the_headline_unchecked(
    require: str, tmp_path: Path, checker: AtomChecker
) -> None:
    for order in ((K16, "hmma.magic"), ("hmma.magic", K16)):
        verified = case(write_atom(tmp_path, quote(*order)), checker)
        assert verified.status == "UNCHECKED"
        assert {v.status for v in list_verdicts(verified, SIGNATURE)} == {Status.PROVED, Status.UNCHECKED}
        report = Report((verified,), frozenset({Check(require)}))
        assert report.exit() == 4 and "hmma.magic" in report.unmet()[0][1]


def test_a_mnemonic_that_a_known_family_lacks_is_refuted_and_outranks_an_unknown_family(
    tmp_path: Path, checker: AtomChecker
) -> None:
    none = "mma.sync.aligned.m16n8k24.row.col.f32.f16.f16.f32"
    for order in ((K16, none), ("hmma.magic", none), (K16, "hmma.magic", none)):
        verified = case(write_atom(tmp_path, quote(*order)), checker)
        assert verified.status == "REFUTED"
        assert Report((verified,), frozenset({Check.ISA})).exit() == 1


def test_an_instruction_whose_operands_the_isa_leaves_open_is_not_compared_by_another_that_is(
    checker: AtomChecker,
) -> None:
    """The shape and the types of both agree; the second has no formula that an operand could equal."""
    right = registry()["SM80_8x8x4_F64F64F64F64_TN"]
    assert isinstance(right, Atom) and right.ptx and case(right, checker).status == "VERIFIED"
    both = replace(right, spellings={right.ptx[0]: ("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64",)})
    verified = case(both, checker)
    assert {v.status for v in list_verdicts(verified, SIGNATURE)} == {Status.PROVED}
    assert verified.status == "UNCHECKED" and Report((verified,), frozenset({Check.ISA})).unmet()


@pytest.mark.long
def test_a_fault_for_all_instructions_alike_is_reported_once_with_its_repair(checker: AtomChecker) -> None:
    name = next(n for n, a in registry().items() if BLOCK32 in a.mnemonics)
    right = registry()[name]
    assert isinstance(right, Atom)
    verified = case(replace(right, operands=dict(right.operands) | {"C": "(1,(128,256)):(0,(1,64))"}), checker)
    (equals,) = list_verdicts(verified, EQUALS, "C")
    assert verified.status == "REFUTED" and [e.check for e in equals.evidence] == [Check.ISA, Check.PROOF]
    assert equals.counterexample is not None and not equals.counterexample.statement.startswith("by ")


def test_tcgen05_beside_mma_is_refuted_for_its_rows(tmp_path: Path, checker: AtomChecker) -> None:
    verified = case(write_atom(tmp_path, quote(K16, "tcgen05.mma.cta_group::1.kind::f16")), checker)
    reported = {v.claim.text.split()[-1].split(".")[0]: v.status for v in list_verdicts(verified, SIGNATURE)}
    assert verified.status == "REFUTED" and reported == {"mma": Status.PROVED, "tcgen05": Status.REFUTED}


# alternatives
def test_ptx_is_a_mnemonic_or_what_is_issued_in_order_with_alternatives_as_a_nested_list(tmp_path: Path) -> None:
    single = write_atom(tmp_path, f'"{K16}"')
    assert (single.ptx, single.mnemonics) == ((K16,), (K16,))
    two = write_atom(tmp_path, f'[["{K16}", "{K8}"], "{K8}"]')
    assert two.ptx == (K16, K8) and two.mnemonics == (K16, K8) and two.spellings == {K16: (K8,)}
    assert write_atom(tmp_path, "[]").ptx == ()


@pytest.mark.parametrize(
    ("ptx", "key", "problem"),
    [
        ("[[]]", "MINE.ptx[0]", "empty nested list"),
        ("[[1]]", "MINE.ptx[0][0]", "expected a string, found an integer"),
        ('[[["mma"]]]', "MINE.ptx[0][0]", "expected a string, found an array"),
        ('""', "MINE.ptx", "found an empty string"),
        ("7", "MINE.ptx", "expected a mnemonic or an array of mnemonics, found an integer"),
        ('[["a", "a"]]', "MINE.ptx[0]", "twice"),
    ],
)
def test_a_malformed_ptx_is_reported_with_its_place(tmp_path: Path, ptx: str, key: str, problem: str) -> None:
    with pytest.raises(AtomFileError) as caught:
        write_atom(tmp_path, ptx)
    assert caught.value.key == key and problem in caught.value.problem


@pytest.mark.long
def test_each_alternative_is_verified_by_itself(tmp_path: Path, checker: AtomChecker) -> None:
    name = next(n for n, a in registry().items() if BLOCK32 in a.mnemonics)
    right = registry()[name]
    assert isinstance(right, Atom) and right.ptx == (BLOCK32,) and right.mnemonics == (BLOCK32, SCALE_2X)
    verified = case(right, checker)
    assert verified.status == "VERIFIED" and len(list_verdicts(verified, SIGNATURE)) == 2
    wrong = replace(right, spellings={BLOCK32: (SCALE_2X.replace("::2X", "::1X"),)})
    reported = case(wrong, checker)
    assert reported.status == "REFUTED"
    assert [v.status for v in list_verdicts(reported, SIGNATURE)] == [Status.PROVED, Status.REFUTED]
    assert case(replace(right, ptx=(BLOCK32, SCALE_2X), spellings={}), checker).status == "REFUTED"  # both are issued


# lists that are complete
@pytest.mark.parametrize(
    ("shape", "says"),
    [((96, 64, 16), "M = 96"), ((128, 12, 16), "N = 12"), ((128, 264, 16), "N = 264"), ((128, 64, 32), "128x64x32")],
)
def test_extents_that_the_isa_does_not_list_are_refuted(
    shape: tuple[int, int, int], says: str, checker: AtomChecker
) -> None:
    m, n, k = shape
    atom = as_atom("tcgen05.mma.cta_group::1.kind::f16")
    assert isinstance(atom, Atom)
    operands = {"A": f"(1,({m},{k})):(0,(1,{m}))", "B": f"(1,({n},{k})):(0,(1,{n}))", "C": f"(1,({m},{n})):(0,(1,{m}))"}
    verified = case(replace(atom, shape=shape, operands=operands), checker)
    assert verified.status == "REFUTED" and any(says in line for line in refutations(verified))


def test_a_list_that_depends_on_m_decides_for_that_m(checker: AtomChecker) -> None:
    atom = as_atom("tcgen05.mma.cta_group::1.kind::i8")
    assert isinstance(atom, Atom)
    m, n, k = 128, 40, 32  # of integers N is a multiple of 16 above 32
    operands = {"A": f"(1,({m},{k})):(0,(1,{m}))", "B": f"(1,({n},{k})):(0,(1,{n}))", "C": f"(1,({m},{n})):(0,(1,{m}))"}
    assert case(replace(atom, shape=(m, n, k), operands=operands), checker).status == "REFUTED"


@pytest.mark.parametrize(
    "mnemonic",
    [
        "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16",
        "wgmma.mma_async.sync.aligned.m64n264k16.f32.f16.f16",
        "mma.sync.aligned.m16n12k16.row.col.f32.f16.f16.f32",
    ],
)
def test_a_shape_that_a_mnemonic_cannot_have_is_refuted(mnemonic: str, tmp_path: Path, checker: AtomChecker) -> None:
    assert case(write_atom(tmp_path, quote(mnemonic)), checker).status == "REFUTED"


# operands that the atom leaves out
@pytest.mark.parametrize(
    ("mnemonic", "operand"),
    [
        ("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "E"),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", "E"),
        (
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
            "SFA",
        ),
    ],
)
def test_an_operand_that_the_atom_does_not_give_is_unchecked_and_the_others_are_verified(
    mnemonic: str, operand: str, checker: AtomChecker
) -> None:
    whole = as_atom(mnemonic)
    assert isinstance(whole, Atom) and operand in whole.operands and case(whole, checker).status == "VERIFIED"
    bare = replace(whole, operands={name: text for name, text in whole.operands.items() if name != operand})
    verified = case(bare, checker)
    assert verified.status == "UNCHECKED"
    (missing,) = list_verdicts(verified, EQUALS, operand)
    assert missing.status is Status.UNCHECKED and f"does not give {operand}" in missing.reason
    assert {v.status for part in "ABC" for v in list_verdicts(verified, EQUALS, part)} == {Status.PROVED}
    assert Report((verified,), frozenset({Check.ISA})).exit() == 4
    wrong = replace(bare, operands=dict(bare.operands) | {"C": "((4,8),(2,2)):((16,1),(32,8))"})
    assert case(wrong, checker).status == "REFUTED"


# what an entry expects
def test_an_atom_that_expects_unchecked_and_is_fails_no_run_and_one_that_is_something_else_is_a_surprise(
    tmp_path: Path, checker: AtomChecker
) -> None:
    expected = '"UNCHECKED: a family that no table holds"'
    quiet = case(write_atom(tmp_path, quote("hmma.magic"), expect=expected), checker)
    assert quiet.status == "UNCHECKED" and Report((quiet,)).exit() == 0 and not Report((quiet,)).surprises
    right = case(write_atom(tmp_path, quote(K16), expect=expected), checker)
    assert (
        right.status == "VERIFIED"
        and "is VERIFIED" in Report((right,)).surprises["MINE"]
        and Report((right,)).exit() == 1
    )
    refuted = case(write_atom(tmp_path, quote(K8), expect=expected), checker)
    assert (
        refuted.status == "REFUTED"
        and "is REFUTED" in Report((refuted,)).surprises["MINE"]
        and Report((refuted,)).exit() == 1
    )


@pytest.mark.parametrize(
    ("more", "key", "problem"),
    [
        ({"expect": '"VERIFIED"'}, "MINE.expect", "UNCHECKED"),
        ({"expect": "1"}, "MINE.expect", "expected a string"),
    ],
)
def test_what_an_entry_cannot_expect_is_an_error(tmp_path: Path, more: dict[str, str], key: str, problem: str) -> None:
    with pytest.raises(AtomFileError) as caught:
        write_atom(tmp_path, quote(K16), **more)
    assert caught.value.key == key and problem in caught.value.problem


def test_what_registered_atoms_expect_has_a_reason_and_holds(checker: AtomChecker) -> None:
    expecting = [atom for atom in registry().values() if atom.expect]
    assert {atom.name.rsplit("_", 2)[0] for atom in expecting} == {"SM100_UTCCP"}
    assert all(atom.expect and atom.expect.partition(": ")[2] for atom in expecting)
    statuses = {atom.name: case(atom, checker).status for atom in expecting}
    assert statuses == {atom.name: "REFUTED" if atom.known_defect else "UNCHECKED" for atom in expecting}
    assert len(set(statuses.values())) == 2
