# SPDX-License-Identifier: Apache-2.0
"""`lanecheck probe --opcodes`: run every form of every opcode on the GPU of this machine."""

from __future__ import annotations

import argparse
import sys

from gpu_checks.command import exit_undecided, show
from gpu_checks.model import Unavailable
from gpu_checks.opcodes.recording import observe, write
from gpu_checks.opcodes.rejected import accepted_forms, list_rejected
from gpu_checks.opcodes.text import Probe
from lanecheck.console.counts import join_counts
from lanecheck.console.exits import Exit


def list_forms() -> int:
    """Print every form that is probed; returns the exit code."""
    show(*(form.name for form in accepted_forms()))
    return Exit.OK


def probe_opcodes(options: argparse.Namespace) -> int:
    """Run every form, print what came of it and write the recording; returns the exit code."""
    probes = [Probe(form) for form in accepted_forms()]
    found = observe(probes, options.quiet)
    if isinstance(found, Unavailable):
        show(f"{len(probes)} forms of opcodes  UNCHECKED  {found.reason}")
        return exit_undecided(options)
    faults = [one for one in found.forms.values() if one.fault]
    if not options.quiet:
        show(*(f"{one.form}  UNCHECKED  {one.fault}" for one in faults))
    if options.output:
        print(f"wrote {write(options.output, found)}", file=sys.stderr)
    counts = {"forms of opcodes recorded": len(found.forms) - len(faults), "unchecked": len(faults)}
    text = join_counts({**counts, "that ptxas rejects": len(list_rejected())})
    text += f"   {found.device.gpu}, driver {found.device.driver or 'unknown'}"
    show(text)
    return exit_undecided(options) if faults else Exit.OK
