# SPDX-License-Identifier: Apache-2.0
"""tensor-layouts' atoms of NVIDIA (`atoms_nv.py`) and AMD (`atoms_amd.py`): CuTe's (thread, value) layouts.

An element of A is m + M*k, of B n + N*k, of C m + M*n. Operands that a wgmma reads from shared memory have layouts that
say nothing of lanes, and are left out.
"""

import re
from functools import partial

from tensor_layouts import atoms_amd, atoms_nv, mode, size

PROJECT = "tensor-layouts"


def maps():
    """Yield A, B and C of every atom."""
    for module in (atoms_nv, atoms_amd):
        for atom in vars(module).values():
            if hasattr(atom, "a_layout"):
                for operand in "ABC":
                    if operand == "C" or not str(atom.ptx).startswith("wgmma"):
                        yield f"{atom.name} {operand}", partial(fragment, module, atom, operand)


def fragment(module, atom, operand):
    """Return the map of one operand, over all lanes: each group of lanes of a `thr_id` has a tile of its own."""
    m, n, k = atom.shape_mnk
    layout = getattr(atom, f"{operand.lower()}_layout")
    outputs = {"A": (("m", m), ("k", k)), "B": (("n", n), ("k", k)), "C": (("m", m), ("n", n))}[operand]
    rows, threads = outputs[0][1], size(mode(layout, 0))
    lanes = {lane: lane for lane in range(threads)}
    if atom.thr_id is not None and threads == 8:  # Volta's quad pairs: four lanes, and the four 16 further
        lanes = {atom.thr_id(thread) + 4 * pair: thread for pair in range(4) for thread in range(threads)}

    def of(lane, value):
        element = layout(lanes[lane], value)
        return element % rows, element // rows

    described = {
        "source": f"{module.__name__.split('.')[-1]}.py: {atom.name}",
        "inputs": (("lane", len(lanes)), ("value", size(mode(layout, 1)))),
        "outputs": outputs,
        "of": of,
    }
    if note := why_none(module, atom, operand):
        return {**described, "note": note}
    ptx = mnemonic(atom)
    return {**described, "ptx": ptx, "operand": "D" if ptx.startswith("wgmma") and operand == "C" else operand}


def why_none(module, atom, operand):
    """Why a map has no instruction with which it can be compared; empty where it has one. ptxas rejects the names."""
    if module is atoms_amd:
        return "an instruction of AMD's"
    if atom.ptx.startswith("tcgen05.mma"):
        return "an operand of tcgen05.mma is in shared or tensor memory: the project's layout names no lane"
    if atom.ptx == "dp2a.s32.s32":
        return "no PTX instruction has the name dp2a.s32.s32: there are dp2a.lo and dp2a.hi"
    sort, shape = ("sparse", "m16n8k128") if "(sparse)" in atom.ptx else ("dense", "m16n8k64")
    if ".e4m3.e4m3." in atom.ptx and shape in atom.ptx:
        return f"no {sort} mma of e4m3 has the shape {shape}: that is of types of 4 bits"
    if "(sparse)" in atom.ptx and operand == "A":
        return "A is given by the k of all elements, the ISA's by that of the stored ones"
    return ""


def mnemonic(atom):
    """Return the atom's instruction.

    That of a wgmma is given without the types, which the name has; a complex product issues real ones, with its maps.
    """
    types = re.search(r"_(F16|F32|S32)(F16|BF16|TF32|E4M3|E5M2|S8|U8)(F16|BF16|TF32|E4M3|E5M2|S8|U8)_", atom.name)
    if atom.ptx.startswith("wgmma") and types and re.search(r"k\d+$", atom.ptx):
        return ".".join([atom.ptx, *types.groups()]).lower()
    if atom.ptx.endswith(" (sparse)"):
        return atom.ptx.removesuffix(" (sparse)").replace("mma.sync", "mma.sp::ordered_metadata.sync")
    return atom.ptx.removesuffix(" (complex)")
