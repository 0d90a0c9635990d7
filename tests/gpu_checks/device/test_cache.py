# SPDX-License-Identifier: Apache-2.0
"""The cache between runs: entries are found again, never damaged, never of another compiler; and where it is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpu_checks.device import cache, gpu, sass
from gpu_checks.device.sass import Listing
from lanecheck.console.digests import name_of
from tests.gpu_checks.device.test_sass import NVDISASM

device_module = sys.modules[gpu.compile_cubin.__module__]
DAMAGES = {
    "shorter": lambda x: x[:-1],
    "longer": lambda x: x + b"!",
    "turned": lambda x: x[::-1],
    "empty": lambda x: b"",
    "cut": lambda x: x[:5],
}


@pytest.fixture
def kept(monkeypatch, tmp_path):
    monkeypatch.setenv("LANECHECK_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def test_what_is_kept_is_fetched(kept):
    name = name_of("cubin", "13.0", "sm_90a", "text")
    assert cache.fetch(name) is None and not kept.exists()
    cache.keep(name, b"\0machine code")
    assert cache.fetch(name) == b"\0machine code"
    assert [path.name for path in kept.iterdir()] == [name]
    cache.keep(name, b"")
    assert cache.fetch(name) == b""


def test_names_distinguish_all_parts():
    names = [name_of(*parts) for parts in (("a", "b"), ("ab",), ("ab", ""), ("", "ab"), ("a", b"b", ""), ())]
    assert len(set(names)) == len(names) and name_of("a", b"b") == names[0]


@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_a_damaged_entry_is_none(kept, damage):
    cache.keep("name", b"content")
    path = kept / "name"
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert cache.fetch("name") is None


def test_an_entry_of_another_name_is_none(kept):
    cache.keep("name", b"content")
    (kept / "other").write_bytes((kept / "name").read_bytes())
    assert cache.fetch("name") == b"content" and cache.fetch("other") is None


def test_the_folder_of_the_cache_follows_the_environment_and_empty_means_none(monkeypatch, tmp_path):
    monkeypatch.setenv("LANECHECK_CACHE", "")
    assert cache.folder() is None and cache.fetch("x") is None
    cache.keep("x", b"")
    monkeypatch.delenv("LANECHECK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "lanecheck"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == Path.home() / ".cache" / "lanecheck"


def test_a_folder_that_cannot_be_written_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("LANECHECK_CACHE", str(tmp_path / "file"))
    cache.keep("name", b"content")
    assert cache.fetch("name") is None


def test_a_text_is_compiled_once_for_each_architecture_and_compiler(kept, cupy):
    for architecture, version in (("sm_90a", (13, 0)), ("sm_90a", (13, 0)), ("sm_90", (13, 0)), ("sm_90", (13, 1))):
        cupy.nvrtc.getVersion = lambda version=version: version
        assert device_module.compile_cubin("good", architecture) == b"cubin" * 3 + b"\0"
    assert len(cupy.nvrtc.texts) == 3


def test_a_rejection_is_not_kept(kept, cupy):
    cupy.nvrtc.rejected = "bad"
    for _ in range(2):
        with pytest.raises(device_module.Unsupported):
            device_module.compile_cubin("bad", "sm_90a")
    assert len(cupy.nvrtc.texts) == 2 and not kept.exists()


def test_a_listing_that_other_code_read_is_read_again(kept, monkeypatch, tmp_path):
    monkeypatch.setattr(sass, "disassembler", lambda: [sys.executable, "-c", f"print({NVDISASM!r})"])
    assert Listing(b"one").opcodes
    changed = tmp_path / "sass.py"
    changed.write_bytes(Path(sass.__file__).read_bytes() + b"#\n")
    monkeypatch.setattr(sass, "__file__", str(changed))
    assert Listing(b"one").opcodes and len(list(kept.iterdir())) == 2


def test_a_listing_is_read_once(kept, monkeypatch):
    started = []
    script = f"print({NVDISASM!r})"
    monkeypatch.setattr(sass, "disassembler", lambda: [sys.executable, "-c", script])
    run = sass.subprocess.run
    counted = SimpleNamespace(run=lambda *a, **k: started.append(1) or run(*a, **k), DEVNULL=-3)
    monkeypatch.setattr(sass, "subprocess", counted)
    first, second, third = Listing(b"one").opcodes, Listing(b"one").opcodes, Listing(b"two").opcodes
    assert first == second == third and first["run_1"] == "DMMA.16x8x16.RZ" and len(started) == 2
