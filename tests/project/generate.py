# SPDX-License-Identifier: Apache-2.0
"""What is generated and committed, in one list: `make generate` writes what is out of date.

The schemas of users' files, the tables of properties in the docs, the page of planted bugs, the picture of the rooms,
and the catalogue that `lanecheck identify` reads. What is recorded, drawn or measured has commands of its own
(CONTRIBUTING.md).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks import suites
from lanecheck.console.digests import seal, unseal
from tests.kernels import planted
from tests.project import rooms, schemas, tables
from verify.explain import command as explain
from verify.identify import catalogue, making

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def list_generated() -> Iterator[tuple[Path, Callable[[], bytes]]]:
    """Each file with what its content should be."""
    for name in schemas.schemas():
        yield schemas.HOME / f"{name}.schema.json", lambda name=name: schemas.text(name).encode()  # type: ignore[misc]
    for name in tables.tables():
        yield DOCS / name, partial(_page, DOCS / name, partial(tables.page, name))
    yield DOCS / "findings.md", lambda: explain.write_page().encode()
    yield DOCS / "attention-bugs.md", lambda: planted.page().encode()
    yield DOCS / "pytest.md", partial(_page, DOCS / "pytest.md", suites.renew)
    yield rooms.PAGE, partial(_page, rooms.PAGE, rooms.page)
    yield catalogue.FILE, _catalogue


def _page(path: Path, renew: Callable[[str], str]) -> bytes:
    return renew(path.read_text(encoding="utf-8")).encode()


def _catalogue() -> bytes:
    """The catalogue as it is if it is sealed with today's tables and code: to make it takes seconds."""
    kept = catalogue.FILE.read_bytes() if catalogue.FILE.exists() else b""
    if unseal(catalogue.name(), kept) is not None:
        return kept
    return seal(catalogue.name(), making.text().encode())


def stale() -> dict[Path, bytes]:
    """The files that are out of date, each with what it should be."""
    made = {path: make() for path, make in list_generated()}
    return {path: new for path, new in made.items() if not path.exists() or path.read_bytes() != new}


if __name__ == "__main__":
    for each, new in stale().items():
        each.write_bytes(new)
        print(f"wrote {each.relative_to(ROOT)}", file=sys.stderr)
