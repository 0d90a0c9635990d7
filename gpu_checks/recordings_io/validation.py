# SPDX-License-Identifier: Apache-2.0
"""Validation: whether a recording has all that the probe of its instruction always writes.

A file can be cut short, edited by hand or take the place of another, and still be well formed. Validation needs the
signature alone: how many lanes and values each operand has, that every element has an owner, that every label is inside
the tile. `why_incomplete` and, for many recordings, `reconstructed.incomplete` check that the labels are those that
were observed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import prod
from pathlib import Path

from gpu_checks.arrays import np
from gpu_checks.inference import reconstructed
from gpu_checks.inference.sparse import FIELDS
from gpu_checks.kernels import copies, tensor_memory
from gpu_checks.kernels.forms import forms, plain_form
from gpu_checks.kernels.mma import spare
from gpu_checks.kernels.modules import has_kernels, kernel_hash, probe_of
from gpu_checks.kernels.packing import operands_as_words
from gpu_checks.kernels.smem_matrix import MAJORS, SWIZZLES
from gpu_checks.model import COLUMN, CONTRACTED, PRODUCT, ROW, ElementCoordinates, Image, Labels, Metadata
from gpu_checks.recording import Move, Recording
from gpu_checks.recordings_io.errors import RecordingError
from isa_tables.signature import Fragment, Signature, mnemonics
from isa_tables.signature import signature as look_up

_AXES: Mapping[str, tuple[int, ...]] = {
    "A": (ROW, CONTRACTED, PRODUCT),
    "B": (COLUMN, CONTRACTED, PRODUCT),
    "D": (ROW, COLUMN, PRODUCT),
}
_OF_MOVE = 32  # lanes of a matrix move: ldmatrix, stmatrix and movmatrix are .aligned, of a whole warp


class StaleRecording(UserWarning):
    """A recording was made by kernels of another text than its instruction has today."""


def misfit(recording: Recording | Move, signature: Signature) -> str:
    """Return the first thing in a recording that the instruction's probe cannot have written.

    Empty where there is none.

    A recording that is not sound is no evidence, and is not validated.
    """
    if not recording.sound:
        return ""
    problems = _of_move(recording, signature) if isinstance(recording, Move) else _of_product(recording, signature)
    return next(problems, "") or _of_kernel(recording, signature)


def validate(recording: Recording | Move, signature: Signature) -> None:
    """Raise RecordingError, with the file and the mnemonic, for a recording that its probe cannot have written."""
    if why := misfit(recording, signature):
        raise RecordingError(f"{recording.file}: {recording.mnemonic}: {why}")


def is_stale(recording: Recording | Move, signature: Signature) -> bool:
    """Whether it was made by kernels of another text than the instruction has today.

    The observation remains true; that it is one of today's kernels was not tested.
    """
    return recording.kernel_hash != kernel_hash(signature)


def _of_kernel(recording: Recording | Move, signature: Signature) -> str:
    """Whether the kernels are those of another instruction, which may distribute its elements alike."""
    maker = _made_by().get(recording.kernel_hash) if is_stale(recording, signature) else None
    return f"kernel_hash is that of the kernels of {maker}" if maker else ""


# Kept for good, also when kernels change later: it only names another instruction. `is_stale` decides, and it
# hashes today's text each time.
@cache
def _made_by() -> Mapping[str, str]:
    """Hash of kernels -> the instruction; read only where a recording has not its own instruction's."""
    return {
        kernel_hash(signature): signature.mnemonic
        for signature in map(look_up, mnemonics("*"))
        if has_kernels(signature)
    }


def stale_notice(file: str | Path, mnemonics: Sequence[str]) -> str:
    """Return the message on the stale recordings of a file."""
    more = f" and {len(mnemonics) - 1} more" if len(mnemonics) > 1 else ""
    return f"{file}: {mnemonics[0]}{more}: recorded by kernels of another text than today's: record it anew"


def why_incomplete(recording: Recording | Move) -> str:
    """Why the labels of a sound recording are not the table whose hash was kept; empty where they are."""
    if isinstance(recording, Move) or not recording.sound or reconstructed.hash_of(recording) == recording.hash:
        return ""
    return "the labels do not rebuild the table that was observed"


def _of_move(move: Move, signature: Signature) -> Iterator[str]:
    if probe_of(signature) != "moves":
        yield "the instruction moves no matrices"
        return
    shape = (_OF_MOVE, 4 * copies.registers(signature).regs, 2)
    if move.places.shape != shape:
        yield f"places have the shape {move.places.shape}, the instruction's {shape}"
    elif (move.places < 0).any() or len(np.unique(move.places.reshape(-1, 2), axis=0)) < prod(shape[:2]):
        yield "bytes of registers have no place, or share one"
    elif not tensor_memory.fits(signature):
        size = copies.ROW if "P" in signature.operands else shape[1]
        if (move.places >= (_OF_MOVE, size)).any():
            yield f"a place lies outside {_OF_MOVE} lanes of {size} bytes"


def _of_product(recording: Recording, signature: Signature) -> Iterator[str]:
    kind, as_words = probe_of(signature), operands_as_words(plain_form(signature))
    if recording.probe != kind:
        yield f"probe is {recording.probe!r}, the instruction's is {kind!r}"
        return
    for name in ("A", "B", "D"):
        shape = (as_words[name][0], as_words[name][1].values)
        if recording.operands[name].shape[:2] != shape:
            yield f"{name} has {recording.operands[name].shape[:2]} lanes and values, the instruction {shape}"
            return
        yield from _list_unlabelled(recording.operands[name], name, signature)
    lanes, c = as_words["C"]
    if recording.passthrough.shape != (lanes, c.values):
        yield f"passthrough has {recording.passthrough.shape} lanes and values, the instruction's C {(lanes, c.values)}"
    elif sorted(recording.passthrough.ravel().tolist()) != list(range(lanes * c.values)):
        yield "passthrough is not each element of D once"
    if recording.controls is not None and recording.controls.trials < 1:
        yield "the controls are of no trial"
    for coordinates in recording.coordinates:
        yield from _of_coordinates(coordinates, *as_words[coordinates.operand])
    for image in recording.images:
        yield from _of_image(image, signature)
    yield from _of_metadata(recording.metadata, signature)


def _list_unlabelled(labels: Labels, name: str, signature: Signature) -> Iterator[str]:
    """Elements without a label, but for copies that are never read, and labels beyond the tile."""
    axes = list(_AXES[name])
    named = labels[..., axes]
    read = (named >= 0).all(axis=-1)
    if not read.all() and (name not in spare(signature) or not read.any() or (labels[~read] >= 0).any()):
        yield f"{int((~read).sum())} elements of {name} have no label"
    limits = np.array([(*signature.shape, signature.products)[axis if axis != PRODUCT else -1] for axis in axes])
    if (named >= limits).any():
        yield f"labels of {name} lie outside {tuple(limits.tolist())}"


def _of_coordinates(coordinates: ElementCoordinates, lanes: int, fragment: Fragment) -> Iterator[str]:
    what = f"the absolute coordinates of {coordinates.operand} by {coordinates.name}"
    if coordinates.labels.shape != (lanes, fragment.values, 2):
        yield f"{what} have the shape {coordinates.labels.shape}"
    elif (coordinates.labels >= fragment.extent).any():
        yield f"{what} are outside {fragment.extent}"


def _of_image(image: Image, signature: Signature) -> Iterator[str]:
    what = f"the image {image.operand} {image.major}-major {image.swizzle}"
    fragments = [form.signature.operands.get(image.operand) for form in forms(signature)]
    fragment = next((fragment for fragment in fragments if fragment is not None and fragment.space == "smem"), None)
    if fragment is None or image.swizzle not in SWIZZLES or image.major not in MAJORS:
        yield f"{what} is none of the instruction's"
    elif min(image.lbo, image.sbo) < 0 or len(image.labels) != 1:
        yield f"{what} has offsets {image.lbo} and {image.sbo} and {len(image.labels)} lanes"
    else:
        mn, k = image.labels[0][:, ROW if image.operand == "A" else COLUMN], image.labels[0][:, CONTRACTED]
        mn, k = mn[there := (mn >= 0) & (k >= 0)], k[there]
        extent = (signature.shape[0 if image.operand == "A" else 1], signature.shape[2])
        inside = (mn < extent[0]).all() and (k < extent[1]).all() and len(k) == prod(fragment.extent)
        if not inside or np.bincount(mn * np.int64(extent[1]) + k).max(initial=0) > 1:
            yield f"{what} does not hold each element once"


def _of_metadata(metadata: Metadata | None, signature: Signature) -> Iterator[str]:
    if (metadata is None) != (signature.sparsity is None):
        yield "metadata are there" if metadata else "metadata are missing"
    if metadata is None:
        return
    if not metadata.kept or not metadata.rulers:
        yield "metadata: no pattern or no selector was recorded"
    if any(((k < 0) | (k >= signature.shape[2])).any() for k in metadata.kept.values()):
        yield f"metadata: a k lies outside {signature.shape[2]}"
    limits = (signature.lanes, FIELDS)
    if any(((ruler < 0) | (ruler >= limits)).any() for ruler in metadata.rulers.values()):
        yield f"metadata: a ruler lies outside {limits[0]} lanes of {limits[1]} fields"
