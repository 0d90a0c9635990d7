# SPDX-License-Identifier: Apache-2.0
"""`lanecheck COMMAND …`, and the one table of its commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from lanecheck.console import installation
from verify.cli.ending import as_process, complain, run_guarded
from verify.cli.output import write
from verify.core.errors import Exit, UsageError
from verify.core.names import nearest

# Each name with the module that runs it and what the help says. `python -m MODULE`, without `.command`, does the same.
COMMANDS = {
    "atlas": ("verify.atlas.command", "the table of all instructions with their atoms, verdicts and provenance"),
    "atom": ("verify.atom.command", "verify atoms by the ISA tables, a proof and GPU recordings"),
    "banks": ("gpu_checks.banks.command", "time accesses to shared memory on this GPU: bank conflicts"),
    "campaign": ("verify.campaign.command", "check laws and implementations on every layout up to a bound"),
    "check": ("verify.check.command", "verify anything: a kernel, a file, a header, a layout, an atom, a project"),
    "discover": ("gpu_checks.discover.command", "find the map of an instruction, or of a CUDA function of yours"),
    "explain": ("verify.explain.command", "what a finding means, an example, and how to fix it"),
    "export": ("verify.tiling.gpu_kernels", "tiled MMAs as the layouts that `tilings` makes kernels from"),
    "foreign": ("verify.foreign.command", "verify the maps of other projects by calling their own functions"),
    "identify": ("verify.identify.command", "find which operands of which instructions a map is"),
    "index": ("verify.index.command", "verify index arithmetic, tables and F2 bases against an instruction"),
    "init": ("verify.init", "write a claim or a map file by asking"),
    "kernel": ("verify.kernel.command", "verify a compiled kernel, in PTX, without a GPU"),
    "laws": ("verify.laws.command", "prove the laws of the layout algebra for all extents and ranks"),
    "layout": ("verify.layout.command", "check one layout: bounds and ownership of a tile"),
    "list": ("verify.listing", "atoms, instructions and other names, and the kinds of subjects"),
    "lock": ("verify.lock.command", "lock reviewed maps; fail CI if one of them changes"),
    "movement": ("verify.movement.command", "verify movements of data: registers, bank conflicts, matrix descriptors"),
    "mutate": ("verify.mutate.command", "the mutation campaign: count how many wrong atoms each check refutes"),
    "order": ("gpu_checks.order.command", "leave out barriers and fences on this GPU: what goes wrong"),
    "probe": ("gpu_checks.probe", "record what matrix instructions do on this GPU"),
    "scan": ("verify.scan.command", "verify the layouts and asm strings of CUTLASS headers"),
    "show": ("verify.show.command", "draw atoms, layouts and maps: in the terminal, as SVG, HTML or LaTeX"),
    "tiling": ("verify.tiling.command", "verify tiled MMAs: the owners of a CTA's tile, and the product"),
    "tilings": ("gpu_checks.tilings.command", "multiply on this GPU by kernels made from layouts"),
}
EXAMPLE = "lanecheck check SM80_16x8x16"


# The verbs; then the commands of one kind of subject each; then two groups, whose name may stand before a command.
# They name kinds, which else only `verify.kinds` does, because `lanecheck --help` may load no kind. A kind needs no
# command of its own, `lanecheck check` verifies it; tests/verify/test_map_of_commands.py compares these with the rows.
VERBS = ("check", "show", "identify", "lock", "explain", "list", "init")
OF_A_KIND = ("atom", "layout", "index", "tiling", "movement", "kernel", "scan", "foreign")
GROUPS = {
    "gpu": ("on this machine's GPU", ("probe", "banks", "order", "discover", "tilings", "export")),
    "self": ("whether Lanecheck itself holds", ("atlas", "laws", "campaign", "mutate")),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the first argument names, or the second of a group; returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in GROUPS and words[1:2] and words[1] in GROUPS[words[0]][1]:
        words = words[1:]
    if words and words[0] in COMMANDS:
        if line := installation.fault():
            return complain(line, Exit.USAGE)
        return int(import_module(COMMANDS[words[0]][0]).main(words[1:]))
    return run_guarded(_general, words)


def _general(words: Sequence[str] | None) -> int:
    """Print the help or the version; UsageError for an unknown command."""
    if not words or words[0] in ("-h", "--help"):
        write(_help(), None)
        return Exit.OK if words else Exit.USAGE
    if words[0] in GROUPS:
        if words[1:] and words[1] not in ("-h", "--help"):
            commands = GROUPS[words[0]][1]
            raise UsageError(f"no command of {words[0]} is named {words[1]!r}{nearest(words[1], commands, 'command')}")
        write(f"usage: lanecheck {words[0]} COMMAND …\n\n{_list_commands(*GROUPS[words[0]])}", None)
        return Exit.OK if words[1:] else Exit.USAGE
    if words[0] == "--version":
        write(f"{installation.version()}\n", None)
        return Exit.OK
    raise UsageError(f"no command is named {words[0]!r}{nearest(words[0], [*COMMANDS, *GROUPS], 'command')}")


def _help() -> str:
    """Return the map of the commands, the verbs first."""
    head = (
        "lanecheck: is every element in the right lane?\n\nusage: lanecheck COMMAND …\n       lanecheck --version\n\n"
    )
    groups = [_list_commands(f"lanecheck {name} …: {what}", names) for name, (what, names) in GROUPS.items()]
    listed = "\n".join([_list_commands("", VERBS), _list_commands("of one kind of subject", OF_A_KIND), *groups])
    return f"{head}{listed}\nexample:\n  {EXAMPLE}\n\n`lanecheck COMMAND --help` has the rest.\n"


def _list_commands(title: str, names: Sequence[str]) -> str:
    """Return commands with what they are for, under a title."""
    lines = [f"  {name:<9} {COMMANDS[name][1]}" for name in names]
    return "".join(f"{line}\n" for line in ([f"{title}:"] if title else []) + lines)


def lanecheck() -> NoReturn:
    """Run as the program of that name."""
    as_process(main)


if __name__ == "__main__":
    lanecheck()
