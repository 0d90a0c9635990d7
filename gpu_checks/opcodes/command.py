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
    recording = observe(probes, options.quiet)
    if isinstance(recording, Unavailable):
        show(f"{len(probes)} forms of opcodes  UNCHECKED  {recording.reason}")
        return exit_undecided(options)
    faults = [computed for computed in recording.forms.values() if computed.fault]
    if not options.quiet:
        show(*(f"{computed.form}  UNCHECKED  {computed.fault}" for computed in faults))
    if options.output:
        print(f"wrote {write(options.output, recording)}", file=sys.stderr)
    counts = {"forms of opcodes recorded": len(recording.forms) - len(faults), "unchecked": len(faults)}
    text = join_counts({**counts, "that ptxas rejects": len(list_rejected())})
    text += f"   {recording.device.gpu}, driver {recording.device.driver or 'unknown'}"
    show(text)
    return exit_undecided(options) if faults else Exit.OK
