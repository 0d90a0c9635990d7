# SPDX-License-Identifier: Apache-2.0
"""Instructions that copy: one too many in a copy, and any in a product, is refuted by name."""

import json
from pathlib import Path

import pytest

from tests.verify.test_several_instructions import ENTRY, K16, case, write_atom
from verify.atom import command
from verify.atom.checker import AtomChecker
from verify.core.verdict import Status

COPY = """
["MINE"]
ptx = {ptx}
thr = "1:0"
Src = "(1,64):(0,1)"
Dst = "(1,64):(0,1)"
Ref = "(1,64):(0,1)"
space = {{ Src = "gmem", Dst = "smem" }}
"""
ASYNC = "cp.async.ca.shared.global"
HINTED = f"{ASYNC}.L2::128B"


@pytest.mark.parametrize(
    ("ptx", "words"),
    [
        (
            (ASYNC, HINTED),
            f"{ASYNC} makes the whole copy already; write several mnemonics of one instruction as a nested",
        ),
        (
            (HINTED, ASYNC),
            f"{HINTED} makes the whole copy already; write several mnemonics of one instruction as a nested",
        ),
        ((ASYNC, ASYNC), f"the atom issues {ASYNC} 2 times, one makes the whole copy"),
        (
            (ASYNC, ASYNC.replace("shared", "shared::cta")),
            f"{ASYNC} makes the whole copy already; write several mnemonics",
        ),
        ((ASYNC,), ""),
        (([ASYNC, HINTED],), ""),
    ],
)
def test_a_copy_that_is_issued_twice_is_one_too_many(
    ptx: tuple[object, ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is issued in order moves the bits again; alternatives, of which one is issued, do not."""
    (tmp_path / "copy.toml").write_text(COPY.format(ptx=json.dumps(ptx)))
    code = command.main([str(tmp_path / "copy.toml")])
    out = " ".join(capsys.readouterr().out.split())
    assert (code, " ".join(words.split()) in out, "VERIFIED" in out) == (1 if words else 0, True, not words), out


# what multiplies nothing


@pytest.fixture(scope="module")
def checker() -> AtomChecker:
    return AtomChecker()


@pytest.mark.parametrize(
    "copying",
    [
        ASYNC,
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "movmatrix.sync.aligned.m8n8.trans.b16",
        "tcgen05.ld.sync.aligned.16x32bx2.x1.b32",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16",
    ],
)
@pytest.mark.parametrize("beside", [(), (K16,)])
def test_a_product_by_an_instruction_that_copies_is_refuted_in_a_sentence(
    copying: str, beside: tuple[str, ...], tmp_path: Path, checker: AtomChecker
) -> None:
    outcome = case(write_atom(tmp_path, json.dumps([*beside, copying])), checker)
    reported = f"{copying} copies, it multiplies no matrices: an entry that gives Src, Dst and Ref is a copy"
    wrong = [v.counterexample for v in outcome.verdicts if v.status is Status.REFUTED]
    assert outcome.status == "REFUTED" and [
        counterexample.statement for counterexample in wrong if counterexample is not None
    ] == [reported]


def test_no_shape_is_taken_from_an_instruction_that_copies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A load of wmma has M, N and K in its name."""
    ptx = "wmma.load.a.sync.aligned.row.m16n16k16.f16"
    text = "".join(line for line in ENTRY.splitlines(True) if not line.startswith("shape"))
    (tmp_path / "one.toml").write_text(text.format(name="MINE", ptx=json.dumps(ptx)))
    assert command.main([str(tmp_path / "one.toml")]) == 2
    assert f"MINE.shape: missing, and {ptx} does not determine it: it multiplies no matrices" in capsys.readouterr().err
