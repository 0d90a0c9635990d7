# SPDX-License-Identifier: Apache-2.0
"""All code that an implementation runs is in the key of its results, or there are none."""

from __future__ import annotations

import os
import py_compile
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from verify.campaign import code, tasks
from verify.campaign.spec import LawsSpec
from verify.campaign.tally import Tally
from verify.campaign.tasks import Implementation, parts
from verify.core.errors import UsageError

SPEC = LawsSpec(name="small", kind="laws", laws=("coalesce",), rank=1, size=4, strides=(0, 1, 2))
RIGHT = "from layouts import Layout, coalesce\n"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Modules that a test has imported, and what is known of files, are forgotten after it."""
    before = set(sys.modules)
    yield
    for name in sys.modules.keys() - before:
        del sys.modules[name]
    for cached in (code.digest, code._of_module, code._list_covered, tasks._target):  # seam: the caches
        cached.cache_clear()


def write(folder: Path, **files: str) -> None:
    for name, content in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def run(module: str, folder: Path | str) -> Tally:
    """The result of a chunk, in this process."""
    (part,) = parts(SPEC, Implementation(module, str(folder)))
    tally = tasks.work(part.tasks[0], code.digest(module, str(folder)), module, str(folder))
    assert isinstance(tally, Tally)
    return tally


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "changed"),
    [
        ("mine", "mine.py"),
        ("mine", "helper.py"),
        ("mine", "helpers/deep/one.py"),
        ("mine", "lib/one.py"),  # without __init__.py
        ("mine", "linked/one.py"),
        ("package.algebra", "package/algebra.py"),  # without __init__.py
        ("package", "package/algebra.py"),
        ("compiled", "compiled.so"),
        ("bytes", "bytes.pyc"),
    ],
)
def test_the_code_of_a_module_and_beside_it_is_in_the_key(module: str, changed: str, tmp_path: Path) -> None:
    there = tmp_path / "there"
    names = "mine helper helpers____init__ helpers__deep__one lib__one package__algebra ../elsewhere/one"
    write(there, **dict.fromkeys(names.split(), "x = 1\n"))
    (there / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(there)  # a circle
    for name in ("compiled.so", "bytes.pyc"):
        (there / name).write_bytes(b"1")
    digest = code.digest.__wrapped__
    before = digest(module, str(there))
    for beside in ("spec.results.jsonl", "__pycache__/mine.cpython-311.pyc"):
        (there / beside).parent.mkdir(exist_ok=True)
        (there / beside).write_text("{}", encoding="utf-8")
    code._of_module.cache_clear()  # seam: the cache
    assert digest(module, str(there)) == before
    (there / changed).write_bytes(b"x = 2\n")
    assert digest(module, str(there)) != before


@pytest.mark.long
@pytest.mark.parametrize("module", ["no_such_module", "../x", "sys", "json", "layouts"])
def test_a_module_that_is_not_in_its_folder_is_an_error(module: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"^--module {module}: there is none in {tmp_path}$"):
        run(module, tmp_path)
    assert code.digest(module) != code.digest()


def test_a_module_of_an_archive_is_an_error(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("zipped.py", RIGHT)
    with pytest.raises(UsageError, match="no folder; an archive must be unpacked"):
        run("zipped", tmp_path / "x.zip")


def test_a_folder_with_too_much_code_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, one=RIGHT, two=RIGHT)
    monkeypatch.setattr(code, "MOST", 1)
    with pytest.raises(UsageError, match="more than 1 files of code: name the folder of the module alone"):
        run("one", tmp_path)


def beside(folder: Path) -> None:
    write(folder, impl=RIGHT)


def in_a_folder_beside(folder: Path) -> None:
    write(folder, impl="from parts_of_it.of import *\n", parts_of_it__of=RIGHT)


def behind_a_link(folder: Path) -> None:
    write(folder.parent, real__of=RIGHT)
    write(folder, impl="from linked_parts.of import *\n")
    (folder / "linked_parts").symlink_to(folder.parent / "real")


def in_a_folder_that_it_names_itself(folder: Path) -> None:
    hack = f"import sys; sys.path.insert(0, {str(folder / 'lib')!r})\nfrom inside_of_lib import *\n"
    write(folder, impl=hack, lib__inside_of_lib=RIGHT)


def compiled(folder: Path) -> None:
    write(folder, source__impl=RIGHT)
    py_compile.compile(str(folder / "source" / "impl.py"), cfile=str(folder / "impl.pyc"))


@pytest.mark.parametrize(
    "made", [beside, in_a_folder_beside, behind_a_link, in_a_folder_that_it_names_itself, compiled]
)
def test_what_a_module_loads_from_its_folder_is_run(made: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "it").mkdir()
    made(tmp_path / "it")
    assert run("impl", tmp_path / "it").confirmed == 12


@pytest.mark.parametrize(
    "imported",
    [
        "from outside_of_it import *\n",
        RIGHT + "before = coalesce\ndef coalesce(layout):\n    import outside_of_it\n    return before(layout)\n",
    ],
    ids=["at once", "when it is called"],
)
def test_what_a_module_loads_from_elsewhere_is_an_error(
    imported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, it__impl=imported, outside_of_it=RIGHT)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        UsageError, match=f"it runs {tmp_path / 'outside_of_it.py'}, which is not in the folder of --path"
    ):
        run("impl", tmp_path / "it")


def test_a_module_that_was_imported_from_another_folder_is_an_error(tmp_path: Path) -> None:
    """A process that has run the campaign of one folder has its module; that of another folder is not run."""
    write(tmp_path, one__impl=RIGHT, two__impl=RIGHT)
    assert run("impl", tmp_path / "one").confirmed == 12
    with pytest.raises(UsageError, match=f"it runs {tmp_path / 'one' / 'impl.py'}, which is not"):
        run("impl", tmp_path / "two")


def test_ours_in_place_of_a_module_of_the_same_name_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, layouts="raise AssertionError\n")
    with pytest.raises(UsageError, match=f"it runs .*layouts{os.sep}__init__.py, which is not"):
        run("layouts", tmp_path)
