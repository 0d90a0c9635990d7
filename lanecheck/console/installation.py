# SPDX-License-Identifier: Apache-2.0
"""Whether our packages are the ones that `import` finds, and nothing else was installed into their folders.

Their names are common: a file in the working folder may hide one, and PyPI has a package `verify` that pip installs
into the folder of ours, over its files.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import suppress
from functools import cache

# The folder of our packages; pathlib takes a fifth of `lanecheck --help`.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PACKAGES = ("verify", "layouts", "isa_tables", "proofs", "gpu_checks")


def insist() -> None:
    """End `python -m PACKAGE.COMMAND` with one line and exit code 2 where its imports would find other packages."""
    if line := fault():
        print(line, file=sys.stderr)
        raise SystemExit(2)


@cache
def fault() -> str:
    """Return the installation's error in one line, empty if there is none. It takes under a millisecond."""
    return _find_mixed_distribution() or next(filter(None, map(_find_hiding_file, PACKAGES)), "")


def _find_mixed_distribution() -> str:
    """Return the error where another distribution has a package of our name, which may have overwritten `verify`."""
    for entry in os.listdir(ROOT):
        name, dash, _ = entry.partition("-")
        if dash and name in PACKAGES and entry.endswith((".dist-info", ".egg-info")):
            return _reinstall(name, f"another package `{name}` ({entry}) is installed")
    ours = "verify" not in sys.modules or getattr(sys.modules["verify"], "DISTRIBUTION", None) == "lanecheck"
    return "" if ours else _reinstall("verify", "another package's __init__.py, or none, is")


def _reinstall(name: str, what: str) -> str:
    return (
        f"lanecheck: {what} in the folder of Lanecheck's own, {os.path.join(ROOT, name)}: "
        f"`pip uninstall {name}`, then `pip install --force-reinstall lanecheck`"
    )


def _find_hiding_file(name: str) -> str:
    """Return the error where another file hides one of our packages."""
    spec = sys.modules[name].__spec__ if name in sys.modules else importlib.util.find_spec(name)
    origin = os.path.realpath(spec.origin) if spec is not None and spec.origin else None
    if origin is not None and origin.startswith(os.path.join(ROOT, "")):
        return ""
    return f"lanecheck: `{name}` is {origin or 'missing'}, not Lanecheck's own: rename it or run elsewhere"


def version() -> str:
    """Lanecheck's name and version, as it is installed: the name of the folder of its metadata has both.

    `importlib.metadata` takes longer to load than everything else that prints them.
    """
    for place in sys.path:
        with suppress(OSError):
            for entry in os.listdir(place or "."):
                if entry.startswith("lanecheck-") and entry.endswith(".dist-info"):
                    return f"lanecheck {entry.removeprefix('lanecheck-').removesuffix('.dist-info')}"
    return "lanecheck, from a folder that is not installed"
