# SPDX-License-Identifier: Apache-2.0
"""Whether a command of this package finds ours: `verify` asks the same by code of its own, which is not shared."""

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("verify", "layouts", "isa_tables", "proofs", "gpu_checks")


def insist() -> None:
    """End `python -m gpu_checks.COMMAND` with one line and code 2 where its imports would not find ours."""
    line = fault()
    if line:
        print(line, file=sys.stderr)
        raise SystemExit(2)


def fault() -> str:
    """What hides `isa_tables`, or which package was installed into our folders; empty where all is well."""
    for entry in os.listdir(ROOT):
        name = entry.partition("-")[0]
        if name in PACKAGES and entry.endswith((".dist-info", ".egg-info")):
            return (
                f"lanecheck: another package `{name}` ({entry}) is installed in the folder of Lanecheck's own, "
                f"{ROOT / name}: `pip uninstall {name}`, then `pip install --force-reinstall lanecheck`"
            )
    spec = importlib.util.find_spec("isa_tables")
    origin = Path(spec.origin).resolve() if spec is not None and spec.origin else None
    if origin is not None and ROOT in origin.parents:
        return ""
    return f"lanecheck: `isa_tables` is {origin or 'missing'}, not Lanecheck's own: rename it or run elsewhere"


def version() -> str:
    """Lanecheck's name and version, as it is installed."""
    from importlib import metadata

    try:
        return f"lanecheck {metadata.version('lanecheck')}"
    except metadata.PackageNotFoundError:
        return "lanecheck, from a folder that is not installed"
