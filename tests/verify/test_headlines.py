# SPDX-License-Identifier: Apache-2.0
"""The status of a subject: it covers the requested checks, and one that was not made is no pass."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import gpu_checks
from gpu_checks import Move, Recording
from gpu_checks.recordings_io import writer
from isa_tables.signature import signature
from layouts.atoms import registry
from tests.messages import NO_INSTRUCTION
from tests.verify.atom.test_command import ENTRY, RIGHT_B
from verify.atlas import command as atlas
from verify.atlas.rows import tabulate
from verify.atom import command as atom
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS, OWNERSHIP, PRODUCT, RELATION, SAME_BITS, SIGNATURE
from verify.core.verdict import Check, Claim, Evidence, Property, Scope, Status, Verdict, join
from verify.laws import command as laws
from verify.layout import command as layout
from verify.movement import command as movement
from verify.mutate import command as mutate
from verify.report import Case, Expectation, Report, as_text
from verify.tiling import command as tiling

MMA, COPY = "SM80_16x8x16_F32F16F16F32_TN", "SM75_U32x4_LDSM_N"


UNRECORDED = "SM80_CP_ASYNC_CACHEALWAYS<uint32_t,uint32_t>"


NO_BOOK = "SM100_UTCCP_128dp256bit_1cta"  # the ISA has no order of its bits


NOTHING = "UniversalFMA<float,float,float,float>"  # ptx = []


CHECKS = [set(chosen) for count in (1, 2, 3) for chosen in combinations(Check, count)]


CHECKERS = {frozenset(chosen): AtomChecker(frozenset(chosen)) for chosen in CHECKS}


def case(name: str, chosen: set[Check]) -> Case:
    return CHECKERS[frozenset(chosen)].case(registry()[name])


def entry(folder: Path, *lines: str, without: str = "") -> str:
    """A file with a right atom, lines added, or the line of a key left out."""
    text = ENTRY.format(number=0, B=RIGHT_B)
    kept = [row for row in text.split("\n") if not without or not row.startswith(without)]
    path = folder / "mine.toml"
    path.write_text("\n".join([*kept, *lines]) + "\n")
    return str(path)


def junit(path: Path) -> dict[str, list[str]]:
    """The names of the test cases of a JUnit file by their outcome."""
    (suite,) = ElementTree.parse(path).getroot()
    return {
        tag: [f"{c.attrib['classname']} {c.attrib['name']}" for c in suite if c.find(tag) is not None]
        for tag in ("failure", "error", "skipped")
    }


@pytest.mark.long
@pytest.mark.parametrize("chosen", CHECKS, ids=lambda c: ",".join(sorted(c)))
@pytest.mark.parametrize(
    "name", [MMA, COPY, "SM90_64x8x16_F32F16F16_SS", "SM61_DP4A"]
)  # the last has no absolute coordinates
def test_a_right_atom_is_verified_by_whichever_checks_are_requested(name: str, chosen: set[Check]) -> None:
    verified = case(name, chosen)
    assert (verified.status, verified.gap) == ("VERIFIED", "")
    assert verified.is_only_observed == (chosen == {Check.GPU})
    assert Report((verified,)).exit() == 0


@pytest.mark.parametrize("chosen", CHECKS, ids=lambda c: ",".join(sorted(c)))
def test_an_unrecorded_instruction_is_no_gap_unless_only_the_gpu_is_requested(chosen: set[Check]) -> None:
    verified = case(UNRECORDED, chosen)
    alone = chosen == {Check.GPU}
    assert verified.status == ("UNCHECKED" if alone else "VERIFIED") and not verified.is_only_observed
    assert verified.gap.startswith("no recorded GPU has run") == alone
    assert Report((verified,)).exit() == (4 if alone else 0)
    assert Report((verified,), allow_unchecked=True).exit() == 0
    if Check.GPU in chosen:
        assert Report((verified,), require=frozenset({Check.GPU}), allow_unchecked=True).exit() == 4


@pytest.mark.parametrize("operands", ["A", "AB", "ABC"])
def test_a_required_check_must_be_made_of_every_operand(operands: str) -> None:
    """Behind a swizzle, here one that moves nothing, every point is compared and no solver proves anything."""
    right = registry()["SM80_16x8x16_F32F16F16F32_TN"]
    texts = {name: f"Sw<1,12,4> o {right.operands[name]}" for name in operands}
    verified = AtomChecker().case(replace(right, operands={**right.operands, **texts}))
    assert verified.status == "VERIFIED"
    report = Report((verified,), require=frozenset({Check.PROOF}), allow_unchecked=True)
    why = "proof: none was made of the claim: A equals PTX ISA 9.7.14.5.8 (ISA text)"
    assert report.exit() == 4 and report.unmet() == [(verified.name, why)]
    assert Report((verified,), require=frozenset({Check.ISA, Check.GPU})).exit() == 0


@pytest.mark.parametrize("chosen", CHECKS, ids=lambda c: ",".join(sorted(c)))
def test_what_the_isa_leaves_open_is_unchecked_by_whichever_checks(chosen: set[Check]) -> None:
    verified = replace(case(NO_BOOK, chosen), expects=Expectation())
    assert verified.status == "UNCHECKED" and verified.gap and Report((verified,)).exit() == 4
    expected = replace(verified, expects=Expectation(unchecked="UNCHECKED: the ISA leaves it open"))
    assert Report((expected,)).exit() == 0 and Report((expected,), expect_known=True).exit() == 0
    assert "1 unchecked (1 as expected)" in as_text.render(Report((expected,)))


@pytest.mark.parametrize("chosen", CHECKS, ids=lambda c: ",".join(sorted(c)))
def test_an_atom_that_issues_nothing_on_purpose_is_counted_and_no_failure(chosen: set[Check]) -> None:
    verified = case(NOTHING, chosen)
    assert verified.status == "UNCHECKED" and "`ptx` is empty" in verified.gap and Report((verified,)).exit() == 0
    assert "1 unchecked (1 without a matrix instruction)" in as_text.render(Report((verified,)), quiet=True)


def test_an_instruction_without_a_comparison_leaves_the_atom_unchecked() -> None:
    right = case(MMA, set(Check))
    unknown = Claim(MMA, "", SIGNATURE, "fits hmma.magic")
    missing = join(unknown, [Evidence(Check.ISA, Status.UNCHECKED, "", reason="the ISA tables have no hmma")])
    verified = replace(right, verdicts=(*right.verdicts, missing))
    assert (verified.status, verified.gap) == ("UNCHECKED", "the ISA tables have no hmma")
    for check in Check:
        assert Report((verified,), frozenset({check}), allow_unchecked=True).exit() == 4
        assert Report((right,), frozenset({check})).exit() == 0
    wrong = join(unknown, [Evidence(Check.ISA, Status.REFUTED, "looked up")])
    assert replace(verified, verdicts=(*verified.verdicts, wrong)).status == "REFUTED"


@pytest.mark.parametrize("chosen", CHECKS, ids=lambda c: ",".join(sorted(c)))
def test_a_sparse_atom_that_leaves_e_out_is_unchecked_by_whichever_checks(chosen: set[Check]) -> None:
    sparse = registry()["SM90::GMMA::SPARSE::GMMA_64x8x32_F16F16F16_SS"]
    bare = replace(sparse, operands={name: text for name, text in sparse.operands.items() if name != "E"})
    checker = CHECKERS[frozenset(chosen)]
    assert checker.case(sparse).status == "VERIFIED"
    verified = checker.case(bare)
    assert verified.status == "UNCHECKED" and verified.gap.startswith("the atom does not give E")


def verdict_on(prop: Property, *said: tuple[Check, Status]) -> Verdict:
    """The verdict on a claim of this property, by what each check found."""
    evidence = [Evidence(check, status, "tried", reason=f"{check} knows why") for check, status in said]
    return join(Claim("atom", "A" if prop.scope == Scope.OPERAND else "", prop, "a claim"), evidence)


ISA, PROOF, GPU = Check


PROVED, AGREES, REFUTED, UNKNOWN, UNCHECKED, *_ = Status


def test_every_requested_check_must_be_made_on_the_main_claims_and_one_on_all_others() -> None:
    equal, met = verdict_on(EQUALS, (ISA, PROVED), (PROOF, PROVED)), verdict_on(RELATION, (GPU, AGREES))
    assert Case("atom", (equal, met)).status == "VERIFIED"
    half = verdict_on(EQUALS, (ISA, UNCHECKED), (PROOF, PROVED))
    assert (Case("atom", (half, met)).status, Case("atom", (half, met)).gap) == ("UNCHECKED", "isa knows why")
    unsound = verdict_on(RELATION, (GPU, AGREES), (GPU, UNCHECKED))
    assert Case("atom", (equal, unsound)).gap == "gpu knows why"
    for kind in (PRODUCT, OWNERSHIP):
        assert Case("atom", (equal, met, verdict_on(kind, (ISA, AGREES), (GPU, UNCHECKED)))).status == "VERIFIED"
        assert Case("atom", (equal, met, verdict_on(kind, (ISA, UNCHECKED)))).status == "UNCHECKED"
        assert Case("atom", (equal, met, verdict_on(kind))).status == "VERIFIED"
    assert Case("atom", (half, verdict_on(OWNERSHIP, (PROOF, UNKNOWN)))).status == "UNKNOWN"
    assert Case("atom", (half, verdict_on(OWNERSHIP, (PROOF, REFUTED)))).status == "REFUTED"


def test_a_gpu_contradicts_an_atom_only_where_all_else_confirms_it() -> None:
    equal, wrong = verdict_on(EQUALS, (ISA, PROVED)), verdict_on(RELATION, (GPU, REFUTED))
    verified = Case("atom", (equal, wrong))
    assert verified.status == "CONTRADICTION" and Report((verified,)).exit() == 3 and len(verified.contradictions) == 1
    assert verified.contradicts(wrong) and not verified.contradicts(equal)
    for unconfirmed in (
        verdict_on(EQUALS, (ISA, UNCHECKED)),
        verdict_on(EQUALS),
        verdict_on(EQUALS, (PROOF, UNKNOWN)),
        verdict_on(SIGNATURE, (ISA, REFUTED)),
        verdict_on(SAME_BITS, (ISA, REFUTED)),
    ):
        verified = Case("atom", (equal, unconfirmed, wrong))
        assert verified.status == "REFUTED" and not verified.contradictions and Report((verified,)).exit() == 1
    assert Case("atom", (wrong,)).status == "REFUTED"
    assert Case("atom", (equal, verdict_on(SAME_BITS, (ISA, REFUTED)))).status == "REFUTED"


def test_every_command_takes_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert layout.main(["(4,8):(8,1)", "--onto", "4x8", "--allow-unchecked"]) == 0
    assert tiling.main(["--atom", "UniversalFMA<float,float,float,float>", "--allow-unchecked"]) == 0
    assert movement.main([*shlex.split(movement.EXAMPLE), "--allow-unchecked"]) == 0
    words = ["SM80_CP_ASYNC_CACHEALWAYS<uint32_t,uint32_t>", "-q"]
    assert mutate.main(words) == 4 and mutate.main([*words, "--allow-unchecked"]) == 0
    assert "no evidence from" in capsys.readouterr().out


def test_unchecked_without_a_reason_and_a_case_without_a_verdict_are_no_pass() -> None:
    equal = Claim("atom", "A", EQUALS, "equals the ISA")
    for verdicts in ((), (join(equal, []),), (join(equal, [Evidence(Check.ISA, Status.UNCHECKED, "")]),)):
        assert Case("atom", verdicts).status == "UNCHECKED" and Report((Case("atom", verdicts),)).exit() == 4
    taken = Verdict(equal, Status.TAKEN, ())
    assert Case("atom", (taken,)).gap == "nothing was checked"


@pytest.mark.long
def test_an_atom_without_ptx_is_exit_4_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    why = f"{NO_INSTRUCTION} (`ptx` is absent)"
    bare = ["--atoms", entry(tmp_path, without="ptx")]
    assert atom.main([*bare, "-q"]) == 4
    assert "1 unchecked; " in (out := capsys.readouterr().out)
    assert f"not checked: MINE_0: {why} (--allow-unchecked accepts it); exit 4" in out
    assert atom.main([*bare, "-q", "--allow-unchecked"]) == 0
    assert "not checked" not in capsys.readouterr().out
    for words, code in (([], 4), (["--allow-unchecked"], 0)):
        assert atom.main([*bare, *words, "--format", "json"]) == code
        document = json.loads(capsys.readouterr().out)
        assert document["exit"] == code
        assert document["unchecked"] == [{"name": "MINE_0", "reason": why, "excuse": None, "fails": code == 4}]
        assert atom.main([*bare, *words, "--format", "junit", "-o", str(tmp_path / "junit.xml")]) == code
        cases = junit(tmp_path / "junit.xml")
        assert (cases["failure"], cases["error"]) == ([], ["MINE_0 checked"] * (code == 4))
        assert "MINE_0 A equals_isa" in cases["skipped"]
        assert atom.main([*bare, *words, "--format", "html"]) == code
        assert f"<p>{why}</p>" in capsys.readouterr().out


def test_an_empty_ptx_is_exit_0_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = ["--atoms", entry(tmp_path, "ptx = []", without="ptx")]
    assert atom.main(empty) == 0
    assert "1 unchecked (1 without a matrix instruction)" in capsys.readouterr().out
    assert atom.main([*empty, "--format", "json"]) == 0
    (output,) = json.loads(capsys.readouterr().out)["unchecked"]
    assert (output["excuse"], output["fails"]) == ("without a matrix instruction", False)
    assert atom.main([*empty, "--format", "junit", "-o", str(tmp_path / "junit.xml")]) == 0
    cases = junit(tmp_path / "junit.xml")
    assert cases["failure"] == cases["error"] == []


def test_what_is_verified_by_observation_alone_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main([MMA, "--checks", "gpu"]) == 0
    assert capsys.readouterr().out.startswith(f"{MMA}  VERIFIED (observed) ")
    assert atom.main([MMA, "--checks", "gpu", "--format", "html"]) == 0
    assert ">VERIFIED (observed)</span>" in capsys.readouterr().out
    for words, observed in (("gpu", True), ("gpu,proof", False)):
        assert atom.main([MMA, "--checks", words, "--format", "json"]) == 0
        (output,) = json.loads(capsys.readouterr().out)["subjects"]
        assert (output["status"], output["observed"]) == ("VERIFIED", observed)
    assert atlas.main([MMA, "--checks", "gpu"]) == 0
    assert "1 VERIFIED (observed)" in capsys.readouterr().out


def test_the_atlas_and_the_laws_of_a_module_are_exit_4_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = ["--atoms", entry(tmp_path, without="ptx")]
    assert atlas.main(bare) == 4 and "exit 4" in capsys.readouterr().out
    assert atlas.main([*bare, "--allow-unchecked"]) == 0 and "exit 0" in capsys.readouterr().out
    bare_instruction = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32"
    assert tabulate((), CHECKERS[frozenset({Check.GPU})], [bare_instruction]).exit == 0
    (tmp_path / "lacks_all.py").write_text("class Layout: pass\nLayoutError = ValueError\n")
    lacks = ["--module", "lacks_all", "--path", str(tmp_path), "--only", "complement", "--rank", "1"]
    assert laws.main(lacks) == 4 and "lacks_all has no function" in capsys.readouterr().out
    assert laws.main([*lacks, "--allow-unchecked"]) == 0
    capsys.readouterr()
    assert laws.main(["--infer", "complement", "--shape", "(4)", "--allow-unchecked"]) == 2
    assert "--infer reads no --allow-unchecked" in capsys.readouterr().err


def swap(right: Recording) -> Recording:
    """What C holds arrives elsewhere in D than it did: the relation is refuted."""
    return replace(right, passthrough=np.roll(np.arange(right.passthrough.size), 1).reshape(right.passthrough.shape))


def misplace(right: Recording) -> Recording:
    """Absolute coordinates that say other labels than they did."""
    return replace(right, coordinates=tuple(a._replace(labels=np.roll(a.labels, 1, axis=0)) for a in right.coordinates))


def move(right: Move) -> Move:
    """A move that took the bytes of a lane to its neighbour."""
    return replace(right, places=np.roll(right.places, 1, axis=0))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "change", "claim"),
    [
        (MMA, swap, "relation"),
        (MMA, misplace, "equals_absolute"),
        (COPY, move, "relation"),
    ],
)
def test_a_recording_that_refutes_what_the_isa_confirms_is_a_contradiction(
    name: str,
    change: Callable[[Recording | Move], Recording | Move],
    claim: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit 3 with the recording's file and line; 1 if the check isa was not requested, or the atom is wrong."""
    (named,) = registry()[name].ptx or ()
    library, mnemonic = gpu_checks.recordings(), signature(named).mnemonic
    (right,) = library.moves[mnemonic] if name == COPY else library[mnemonic]
    writer.write(tmp_path, "planted", [writer.to_lines(change(right))])
    monkeypatch.setattr("gpu_checks.recordings_io.reader.SHIPPED", tmp_path / "nothing")
    (tmp_path / "nothing").mkdir()
    (file,) = tmp_path.glob("*.jsonl")
    number = next(i for i, row in enumerate(file.read_text().splitlines(), 1) if row.startswith('{"m'))
    words = [name, "--recordings", str(tmp_path)]
    assert atom.main(words) == 3
    out = capsys.readouterr().out
    said = f"every `equals` is confirmed and {file}:{number} refutes it: the recording or the ISA tables are wrong"
    first, *rest = out.splitlines()
    assert first.startswith(f"{name}  ") and "CONTRADICTION   " in first and " ".join(out.split()).count(said) == 1
    assert (
        claim.replace("_", " ") in out
        and not any(row.startswith(name) for row in rest)
        and "1 subject: 1 contradiction; " in out
    )
    assert atom.main([*words, "--format", "json"]) == 3
    (output,) = json.loads(capsys.readouterr().out)["subjects"]
    assert output["status"] == "CONTRADICTION" and said in output["contradictions"][0]
    assert [v["property"] for v in output["verdicts"] if v["contradiction"]] == [claim]
    assert atom.main([*words, "--format", "junit", "-o", str(tmp_path / "junit.xml")]) == 3
    cases = junit(tmp_path / "junit.xml")
    assert cases["failure"] == [] and len(cases["error"]) == 1
    assert atom.main([*words, "--format", "html"]) == 3
    assert out.count("CONTRADICTION") == 1 and capsys.readouterr().out.count(">CONTRADICTION</span>") == 2
    assert atom.main([*words, "--checks", "gpu"]) == 1
    assert "REFUTED" in capsys.readouterr().out


def test_a_wrong_atom_that_a_recording_refutes_is_no_contradiction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(ENTRY.format(number=0, B="((4,8),(2,2)):((8,1),(16,64))"))
    assert atom.main(["--atoms", str(path)]) == 1
    assert "CONTRADICTION" not in (out := capsys.readouterr().out) and "A, B and D interact as recorded" in out
