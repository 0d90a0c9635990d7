# SPDX-License-Identifier: Apache-2.0
"""Errors planted in recordings: a user's file that cannot be its instruction's is exit 2; nothing passes unread."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import gpu_checks
from gpu_checks import Recording, probe
from gpu_checks.kernels.modules import kernel_hash
from gpu_checks.model import Labels
from gpu_checks.recordings_io import validation, writer
from isa_tables.signature import signature
from layouts.atoms import Atom, registry
from tests.messages import OTHER_KERNELS, OTHER_LABELS
from verify.atom import command as atom
from verify.atom.checker import AtomChecker
from verify.atom.properties import RELATION
from verify.core.verdict import Check, Evidence, Property, Status
from verify.evidence.gpu import Recorded

TN = "SM80_16x8x16_F32F16F16F32_TN"
SS = "SM90_64x16x16_F32F16F16_SS"
SPARSE = "SM90::GMMA::SPARSE::GMMA_64x64x32_F32F16F16_RS"
LIBRARY = gpu_checks.recordings()


Change = Callable[[Recording], Recording]


def mma(name: str) -> Atom:
    entry = registry()[name]
    assert isinstance(entry, Atom)
    return entry


def recording(name: str) -> Recording:
    (mnemonic,) = mma(name).ptx or ()
    (shipped,) = LIBRARY[mnemonic]
    return shipped


def evidence_on(name: str, changed: Recording, prop: Property = RELATION) -> Evidence:
    """The GPU evidence on an atom with only one recording."""
    lookup = Recorded({changed.mnemonic: (changed,)})  # type: ignore[arg-type]
    verdicts = AtomChecker(frozenset({Check.GPU}), lookup=lookup).verify(mma(name), lambda claim: claim.prop == prop)
    (evidence,) = verdicts[-1].evidence
    return evidence


def change_label(labels: Labels, at: object, value: object) -> Labels:
    numbers = labels.astype(np.int64)
    numbers[at] = value  # type: ignore[index]
    return numbers


def operand(name: str, change: Callable[[Labels], Labels]) -> Change:
    return lambda r: replace(r, operands={**r.operands, name: change(r.operands[name])})


def turn(labels: Labels) -> Labels:
    return np.roll(labels, 1, axis=0)


def bf16(recorded: Recording) -> Recording:
    """What was recorded of another instruction, which distributes its elements alike."""
    return replace(LIBRARY["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"][0], mnemonic=recorded.mnemonic)


FILES: list[tuple[str, Change, str]] = [
    (TN, operand("A", turn), OTHER_LABELS),
    (TN, lambda r: replace(r, hash=r.hash[::-1]), OTHER_LABELS),
    (TN, bf16, "kernel_hash is that of the kernels of mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
    (TN, operand("A", lambda x: np.full_like(x, -1)), "256 elements of A have no label"),
    (
        TN,
        lambda r: replace(r, coordinates=(r.coordinates[0]._replace(labels=r.coordinates[0].labels[1:]),)),
        "the absolute coordinates of A by ldmatrix",
    ),
    (TN, operand("A", lambda x: change_label(x, (0, 0), 2**20 - 1)), "labels of A lie outside (16, 16, 1)"),
    (SS, lambda r: replace(r, images=(r.images[0]._replace(sbo=-16),)), "the image B K-major 32B has offsets"),
    (SPARSE, lambda r: replace(r, metadata=None), "metadata are missing"),
]


@cache
def hash_by_name(mnemonic: str) -> str:
    """The hash of an instruction's kernels: no test here changes their text, so each is hashed once for all of them."""
    return kernel_hash(signature(mnemonic))


@pytest.mark.long
@pytest.mark.parametrize(("name", "change", "said"), FILES, ids=range(len(FILES)))
def test_a_file_that_cannot_be_its_instructions_is_exit_2(
    name: str,
    change: Change,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(validation, "kernel_hash", lambda recorded: hash_by_name(recorded.mnemonic))
    right = recording(name)
    changed = change(right)
    pairs = int(np.prod([changed.operands[x].size // 4 for x in "AB"]))
    file = writer.write(tmp_path, "planted", [writer.to_lines(replace(changed, gpu="Planted", pairs=pairs))])
    assert atom.main([name, "--checks", "gpu", "--recordings", str(tmp_path), "-q"]) == 2
    assert capsys.readouterr().err.startswith(f"lanecheck: {file}: {right.mnemonic}: {said}")
    assert probe.main(["--check", str(tmp_path)]) == (3 if "rebuild" in said else 2)
    out, err = capsys.readouterr()
    assert said in (out if "rebuild" in said else err)


def test_the_same_file_unchanged_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer.write(tmp_path, "planted", [writer.to_lines(replace(recording(TN), gpu="Planted"))])
    assert atom.main([TN, "--checks", "gpu", "--recordings", str(tmp_path)]) == 0
    assert "recording of Planted" in capsys.readouterr().out


@pytest.mark.long
def test_recordings_by_kernels_of_another_text_are_read_with_a_warning_for_each_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shorter = "SM80_16x8x8_F32F16F16F32_TN"
    old = [replace(recording(name), gpu="Planted", kernel_hash="0" * 64) for name in (TN, shorter)]
    file = writer.write(tmp_path, "planted", [writer.to_lines(recorded) for recorded in old])
    assert atom.main([TN, shorter, "--checks", "gpu", "--recordings", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    said = f"{old[1].mnemonic}: recorded {OTHER_KERNELS} than today's: record it anew"
    warned = [line for line in err.splitlines() if " atoms, " not in line]  # a busy machine shows progress too
    assert warned == [f"lanecheck: warning: {file}: {said}"]
    assert f"recording of Planted, sm_90a, driver 580.159.04, {OTHER_KERNELS}" in out


def test_what_was_read_from_no_place_is_refuted() -> None:
    """A place without a class in registers may be a copy of one that has; all of an operand cannot be."""
    right = recording(TN)
    assert evidence_on(TN, right).status is Status.AGREES
    for name in "ABD":
        for at in (np.s_[:], np.s_[7, 1]):
            evidence = evidence_on(TN, operand(name, lambda x, at=at: change_label(x, at, -1))(right))  # type: ignore[misc]
            assert evidence.status is Status.REFUTED and evidence.counterexample is not None
            assert "reads neither that slot nor a copy" in evidence.counterexample.statement


@pytest.mark.parametrize("swizzle", ["32B", "64B", "128B"])
def test_an_address_at_which_nothing_is_read_is_refuted(swizzle: str) -> None:
    """In every other image the element is read: that isn't a copy."""
    right = recording(SS)
    images = []
    for image in right.images:
        mine = (image.operand, image.swizzle, image.major) == ("A", swizzle, "K")
        place = np.flatnonzero(image.labels[0, :, 2] >= 0)[11]
        images.append(image._replace(labels=change_label(image.labels, (0, place), -1)) if mine else image)
    evidence = evidence_on(SS, replace(right, images=tuple(images)))
    assert evidence.status is Status.REFUTED and evidence.counterexample is not None
    assert "the hardware reads neither that slot" in evidence.counterexample.statement


def test_a_refutation_by_another_gpu_is_replayed_by_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command that a refutation prints, run again, prints the same."""
    right, folder = recording(TN), tmp_path / "my gpu"
    folder.mkdir()
    order = np.roll(np.arange(right.passthrough.size), 1).reshape(right.passthrough.shape)
    writer.write(folder, "planted", [writer.to_lines(replace(right, gpu="Planted", passthrough=order))])
    output = read_rejection(capsys, [TN, "--recordings", str(folder)])
    (line,) = (line for line in output.split("\n") if "replay" in line)
    assert output == read_rejection(capsys, shlex.split(line)[3:]) and "recording of Planted" in output


def read_rejection(capsys: pytest.CaptureFixture[str], argv: Sequence[str]) -> str:
    """What is printed of a contradiction, without the times."""
    assert atom.main([*argv, "--checks", "gpu"]) == 3
    return re.sub(r"[\d.]+ ms", "", capsys.readouterr().out)
