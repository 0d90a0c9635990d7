# SPDX-License-Identifier: Apache-2.0
"""Whether a command of this package imports the packages of Lanecheck. `verify` has a copy: no code is shared."""

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("verify", "layouts", "isa_tables", "proofs", "gpu_checks")


def insist() -> None:
    """End `python -m proofs.COMMAND` with one line and exit code 2 when its imports would find other packages."""
    line = fault()
    if line:
        print(line, file=sys.stderr)
        raise SystemExit(2)


def fault() -> str:
    """What hides `layouts`, or which other package is installed in a folder of Lanecheck; empty for neither."""
    for entry in os.listdir(ROOT):
        name = entry.partition("-")[0]
        if name in PACKAGES and entry.endswith((".dist-info", ".egg-info")):
            return (
                f"lanecheck: another package `{name}` ({entry}) is installed in the folder of Lanecheck's own, "
                f"{ROOT / name}: `pip uninstall {name}`, then `pip install --force-reinstall lanecheck`"
            )
    spec = importlib.util.find_spec("layouts")
    origin = Path(spec.origin).resolve() if spec is not None and spec.origin else None
    if origin is not None and ROOT in origin.parents:
        return ""
    return f"lanecheck: `layouts` is {origin or 'missing'}, not Lanecheck's own: rename it or run elsewhere"


def version() -> str:
    """The name and version of the installed distribution, in one line."""
    from importlib import metadata

    try:
        return f"lanecheck {metadata.version('lanecheck')}"
    except metadata.PackageNotFoundError:
        return "lanecheck, from a folder that is not installed"
