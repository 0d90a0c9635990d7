# SPDX-License-Identifier: Apache-2.0
"""Kernels made from layouts: their index expressions compute the product, they assemble, and the record is of them."""

from __future__ import annotations

import json
import re
import subprocess

import numpy as np
import pytest

import gpu_checks.tilings
from gpu_checks.model import Unavailable
from gpu_checks.tilings import (
    Strided,
    TilingError,
    TilingRun,
    mutants,
    recordings_of_tilings,
    run_all,
    runner,
    tilings,
)
from gpu_checks.tilings.command import main
from gpu_checks.tilings.kernel import kernel
from gpu_checks.tilings.runner import draw, hash_of
from gpu_checks.tilings.store import write
from gpu_checks.worker import WorkerError, reported_defect
from tests.cases import each
from tests.gpu_checks.kernels.test_modules import NO_NVCC
from tests.gpu_checks.tilings import tiled_machine
from tests.messages import TRACEBACK

SHIPPED = tilings()
NAMED = {tiling.name: tiling for tiling in SHIPPED}
RECORDED = recordings_of_tilings()
REUSE = NAMED["attention_f16"].reuse
FOUR_BITS = "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32"
SPARSE = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
ATTENTION = NAMED["attention_f16"]._replace(reuse=REUSE._replace(product=NAMED["mma_f16_split_k"].product))


def product(tiling, matrices):
    """A @ B, or (A @ B) @ V."""
    made = matrices["A"] @ matrices["B"].T
    return made @ matrices["V"].T if tiling.reuse else made


def block(tiling, matrices):
    """The block of the product that the CTA (1, 1) of two by two makes, zero elsewhere."""
    m, n = tiling.last.extent("C")
    whole = product(tiling, matrices)
    whole[:m] = whole[:, :n] = 0
    return whole


@pytest.mark.long
@each("tiling", SHIPPED, ids=lambda tiling: tiling.name)
def test_the_index_expressions_compute_the_product(tiling):
    """Every instruction as in the ISA, every address from the kernel's text: a CTA's block of A @ B, exactly."""
    matrices = draw(tiling, 1)
    assert np.array_equal(tiled_machine.block(tiling, matrices, 1, 1), block(tiling, matrices))


@pytest.mark.slow
@pytest.mark.parametrize("tiling", SHIPPED, ids=lambda tiling: tiling.name)
def test_one_wrong_stride_makes_another_product(tiling):
    wrong = dict(mutants(tiling))
    assert list(wrong) == ["A", "B", "C"] + (["reuse"] if tiling.reuse else [])
    name = "reuse" if tiling.reuse else "ABC"[SHIPPED.index(tiling) % 3]
    matrices = draw(tiling, 1)
    assert hash_of(wrong[name]) != hash_of(tiling)
    assert not np.array_equal(tiled_machine.block(wrong[name], matrices, 1, 1), block(tiling, matrices)), name


@each("tiling", SHIPPED, ids=lambda tiling: tiling.name)
def test_every_sum_is_exact_in_its_type(tiling):
    """The largest sum that the drawn numbers could make, whatever their signs, is exact in every type on the way."""
    exact = {"f16": 2**11, "bf16": 2**8, "f32": 2**24, "f64": 2**53, "s32": 2**31 - 1}
    sizes = {name: np.abs(matrix) for name, matrix in draw(tiling, 2).items()}
    assert all(size.max() > 0 for size in sizes.values())
    scores = sizes["A"] @ sizes["B"].T
    assert scores.max() <= exact[tiling.product.fragment("C").type]
    if tiling.reuse:
        assert scores.max() <= exact[tiling.reuse.product.fragment("A").type]
        assert (scores @ sizes["V"].T).max() <= exact[tiling.last.fragment("C").type]


def test_the_shipped_tilings_cover_what_a_tiling_can_be():
    """SIMT, every kind of mma.sync, wgmma from registers and memory, partial sums, ldmatrix both ways, reuse."""
    types = {(tiling.product.fragment("A").type, tiling.product.fragment("C").type) for tiling in SHIPPED}
    assert types >= {
        *(("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("tf32", "f32"), ("s8", "s32"), ("f64", "f64")),
        *(("e4m3", "f32"), ("f32", "f32")),
    }
    assert {tiling.product.signature.lanes for tiling in SHIPPED} == {1, 32, 128}
    assert {tiling.product.splits for tiling in SHIPPED} == {1, 2}
    wide = [tiling.last for tiling in SHIPPED if tiling.product.signature.lanes == 128]
    assert {product.fragment("A").space for product in wide} == {"reg", "smem"}
    feeds = [feed for tiling in SHIPPED for feed, _, _ in tiling.feeds.values()]
    assert {"trans" in feed.load.mnemonic for feed in feeds if feed.load and feed.shared.swizzle} == {True, False}
    assert {feed.shared.swizzle[0] for feed in feeds if feed.shared.swizzle} == {1, 2, 3}
    assert {feed.major for feed in feeds} == {"K", "MN"}
    assert sum(tiling.reuse is not None for tiling in SHIPPED) == 2


def test_a_kernel_has_no_table():
    """An index comes from digits: no array is initialised with numbers, and no index function is longer than a line."""
    for tiling in SHIPPED:
        text = kernel(tiling)
        assert not re.search(r"\[\w*\]\s*=\s*\{\s*\w", text), tiling.name
        functions = re.findall(r"constexpr int \w+\(.*\) \{ return (.*); \}\n", text)
        assert len(functions) >= 8 and max(map(len, functions)) < 400


@pytest.mark.slow
@pytest.mark.skipif(NO_NVCC is not None, reason=f"needs nvcc: {NO_NVCC}")
def test_every_kernel_assembles(tmp_path):
    texts = [kernel(tiling) for tiling in SHIPPED]
    head = texts[0].partition("\nnamespace first")[0]
    assert all(text.startswith(head) for text in texts)
    parts = [
        f"namespace {tiling.name} {{\n{text.removeprefix(head).replace(' tiling(', f' {tiling.name}(')}\n}}\n"
        for tiling, text in zip(SHIPPED, texts, strict=True)
    ]
    source = tmp_path / "tilings.cu"
    source.write_text(head + "".join(parts))
    command = ["nvcc", "-arch=sm_90a", "-std=c++17", "-cubin", str(source), "-o", str(tmp_path / "cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def test_the_recorded_runs_are_of_the_kernels_made_today():
    """Each shipped tiling was run on a GPU, equal in every element, with controls that failed, by the same kernel."""
    assert {run.tiling for run in RECORDED} == set(SHIPPED)
    for run in RECORDED:
        assert run.kernel_hash == hash_of(run.tiling), run.tiling.name
        assert run.equal and run.finds_controls
        assert list(run.controls) == list(dict(mutants(run.tiling)))
        assert run.elements == np.prod(run.tiling.extents["C"])
        assert run.device.gpu and run.device.driver and run.device.nvrtc and run.date


def test_a_run_with_an_idle_control_or_a_wrong_element_is_reported_separately():
    run = RECORDED[0]
    assert not run._replace(mismatches=1).equal
    assert not run._replace(elements=0).equal
    assert not run._replace(controls={}).finds_controls
    assert not run._replace(controls={**run.controls, "A": 0}).finds_controls


def test_tilings_and_runs_survive_their_files(tmp_path):
    write(tmp_path / "t.jsonl", SHIPPED)
    assert tilings(tmp_path / "t.jsonl") == SHIPPED
    write(tmp_path / "runs" / "gpu.jsonl", RECORDED)
    assert recordings_of_tilings(tmp_path / "runs") == RECORDED


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"schema": 1', '"schema": 2', "schema is not 1"),
        ('"threads"', '"lanes"', "lanes"),
        ('"threads": 64', '"threads": "64"', "'64' is no int"),
        ("(64,8):(8,1)", "(64,8):(8,1", "is not a layout"),
        ("(64,8):(8,1)", "(64,8):8", "not nested alike"),
        ("(64,8):(8,1)", "(" * 99_999 + "64:8", "nested too deep"),
        ("(64,8):(8,1)", "(64,,8):(8,1)", "is not a layout"),
        ('"tiles": [2, 2, 3]', '"tiles": [2, 2]', "[2, 2] has 2 parts, not 3"),
        ('"tiles": [2, 2, 3]', '"tiles": [2, 2, "3"]', "'3' is no int"),
        ('"A": {', '"A": [{', "Expecting"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, old, new, expected):
    write(tmp_path / "t.jsonl", [NAMED["simt_f32"]])
    text = (tmp_path / "t.jsonl").read_text()
    assert old in text
    (tmp_path / "t.jsonl").write_text(text.replace(old, new))
    with pytest.raises(TilingError, match=r"t\.jsonl:1: .*" + re.escape(expected)):
        tilings(tmp_path / "t.jsonl")


def feed_with(tiling, name, **parts):
    return tiling._replace(**{name: getattr(tiling, name)._replace(**parts)})


def change(tiling, **parts):
    return tiling._replace(product=tiling.product._replace(**parts))


@pytest.mark.parametrize(
    ("tiling", "expected"),
    [
        (NAMED["mma_f16"]._replace(threads=64), "distributes over 128 threads; there are 64"),
        (
            feed_with(NAMED["mma_f16"], "A", copy=NAMED["mma_f16"].B.copy),
            "copy of A .* has size 1024; the tile has 2048",
        ),
        (feed_with(NAMED["mma_f64"], "B", copy=Strided((256, 2), (2, 1))), "asks for 256 threads; there are 128"),
        (change(NAMED["mma_f16"], C=NAMED["mma_s8"].product.A), "C = .* has 16 values; .* has 4"),
        (change(NAMED["mma_f16"], mnemonic=NAMED["mma_s8"].product.mnemonic), "has 8 values; .*s8.* has 16"),
        (change(NAMED["mma_f16"], B=NAMED["mma_bf16_enlarged"].product.B), r"A takes 2 x 2 .* B \(4, 2\)"),
        (change(NAMED["mma_f16"], A=Strided((128, 32), (1, 128))), r"A = .* is not \(thread, \(value, \(rest, rest"),
        (feed_with(NAMED["mma_f16"], "A", copy=Strided(2048, 1)), r"copy of A = 2048:1 is not \(thread, value\)"),
        (change(NAMED["mma_f16"], tile=(64, 32, 16)), "multiply 65536 pairs of elements; the tile .* has 32768"),
        (change(NAMED["simt_f32"], mnemonic="fma.rn.f16"), "fma.rn.f32 and fma.rn.f64"),
        (ATTENTION, r"makes \(64, 32\) of \(m, n\)"),
        (NAMED["ragged_simt_f32"]._replace(short=(64, 0, 0)), "64 elements are lacking along m; the last tile has 1"),
        (NAMED["mma_f16"]._replace(short=(0, -1, 0)), "-1 elements are lacking along n; the last tile has 1 to 32"),
        (NAMED["attention_f16"]._replace(short=(1, 0, 0)), "a chain of two products takes whole tiles alone"),
        (change(NAMED["mma_s8"], mnemonic=FOUR_BITS), "elements of 4 bits, as A's are, have no address of their own"),
        (change(NAMED["mma_s8"], mnemonic=SPARSE), "takes E too, which no tiling feeds"),
    ],
)
def test_what_does_not_fit_is_rejected_with_the_numbers(tiling, expected):
    with pytest.raises(TilingError, match=f"^{tiling.name}: .*{expected}"):
        kernel(tiling)


@pytest.mark.parametrize(
    ("tiling", "expected"),
    [
        (
            feed_with(NAMED["wgmma_f16_ss"], "B", shared=Strided((64, 64), (64, 1))),
            "a K-major descriptor, swizzle none",
        ),
        (
            feed_with(NAMED["wgmma_f16_ss"], "B", shared=Strided((64, 64), (64, 1), (3, 4, 3))),
            "swizzles 16-bit elements by",
        ),
        (
            feed_with(NAMED["wgmma_s8_ss"], "B", shared=Strided(((16, 4), (8, 8)), ((1, 512), (16, 128)))),
            "reads K-major",
        ),
        (feed_with(NAMED["ldmatrix_f16_tn"], "A", shared=Strided((64, 64), (65, 1))), "rows of 16 aligned bytes"),
        (
            feed_with(NAMED["mma_f16"], "A", shared=Strided((64, 32), (400, 1))),
            "bytes of shared memory; a kernel has 49152",
        ),
    ],
)
def test_memory_that_an_instruction_cannot_read_is_rejected(tiling, expected):
    with pytest.raises(TilingError, match=expected):
        kernel(tiling)


def test_copies_are_as_wide_as_both_memories_allow():
    """16 bytes where rows are contiguous and aligned in source and destination; one element where a row is 20 bytes."""
    wide = {
        name: re.findall(r"move<(\d+)>\(&", kernel(NAMED[name])) for name in ("mma_f16", "wgmma_f16_ss", "simt_f32")
    }
    assert wide == {"mma_f16": ["16", "16"], "wgmma_f16_ss": ["16", "16"], "simt_f32": ["16", "16"]}
    ragged = feed_with(NAMED["mma_f16"], "A", shared=Strided((64, 32), (33, 1)))
    assert re.findall(r"move<(\d+)>\(&", kernel(ragged)) == ["2", "16"]


RAGGED = [tiling for tiling in SHIPPED if tiling.short]


@pytest.mark.long
@pytest.mark.parametrize("tiling", RAGGED, ids=lambda tiling: tiling.name)
def test_matrices_end_within_their_last_tiles(tiling):
    """Every CTA of the grid together: the whole product, and nothing read or written beyond a matrix."""
    matrices = draw(tiling, 4)
    made = sum(tiled_machine.block(tiling, matrices, *at) for at in np.ndindex(tiling.tiles[:2]))
    assert np.array_equal(made, product(tiling, matrices))
    sizes = tiling.extents["A"][0], *tiling.extents["B"]
    assert sizes == tuple(
        count * size - less for count, size, less in zip(tiling.tiles, tiling.product.tile, tiling.short, strict=True)
    )


@pytest.mark.parametrize("tiling", RAGGED, ids=lambda tiling: tiling.name)
def test_what_is_copied_at_once_is_wholly_inside_or_beyond_the_matrix(tiling):
    widths = [int(digits) for digits in re.findall(r"move<(\d+)>\(&", kernel(tiling))]
    lines = [tiling.extents[name][feed.major == "K"] for name, (feed, _, _) in tiling.feeds.items()]
    bits = [product.fragment(operand).bits for _, product, operand in tiling.feeds.values()]
    assert all(line * bit // 8 % width == 0 for line, bit, width in zip(lines, bits, widths, strict=True))


@pytest.mark.parametrize("name", ["A", "B", "result"])
def test_a_kernel_that_asks_for_one_element_less_is_wrong(name, monkeypatch):
    """The predicates count: with another limit in the text the product differs, or elements stay unwritten."""
    tiling, whole = NAMED["ragged_ldmatrix_f16"], kernel(NAMED["ragged_ldmatrix_f16"])
    limit = {"A": "< 77", "B": "< 40", "result": "< 77"}[name]
    at = whole.rindex(limit) if name == "result" else whole.index(limit)
    shorter = whole[:at] + f"< {int(limit[2:]) - 1}" + whole[at + len(limit) :]
    monkeypatch.setattr(tiled_machine, "kernel", lambda _: shorter)
    matrices = draw(tiling, 4)
    made = sum(tiled_machine.block(tiling, matrices, *at) for at in np.ndindex(tiling.tiles[:2]))
    assert not np.array_equal(made, product(tiling, matrices))


def test_the_command_lists_and_prints_kernels(capsys):
    assert main(["--list", "wgmma_*"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 8
    assert main(["--kernel", "mma_f64"]) == 0
    assert capsys.readouterr().out == kernel(NAMED["mma_f64"]) + "\n"


def test_the_command_says_what_is_wrong(capsys, tmp_path):
    assert main(["mma_f15"]) == 2
    assert capsys.readouterr().err == "tilings: no tiling is named 'mma_f15' (see --list)\n"
    assert main(["--file", str(tmp_path / "none.jsonl")]) == 2
    (tmp_path / "empty.jsonl").write_text("")
    assert main(["--file", str(tmp_path / "empty.jsonl")]) == 5
    (tmp_path / "bad.jsonl").write_text("{}\n")
    assert main(["--file", str(tmp_path / "bad.jsonl")]) == 2
    err = capsys.readouterr().err
    assert "bad.jsonl:1" in err and "Traceback" not in err


def test_the_function_that_runs_a_tiling_gives_the_reason_why_it_cannot():
    if not isinstance(gpu_checks.device_info(), Unavailable):
        pytest.skip("gpu: there is one; test_every_shipped_tiling_equals_numpy_on_the_gpu checks it")
    outcome = gpu_checks.tilings.run_tiling(NAMED["mma_f64"])
    assert isinstance(outcome, Unavailable) and outcome.reason


def test_without_a_gpu_nothing_is_checked_and_nothing_passes(capsys, monkeypatch):
    missing = Unavailable("no GPU here")
    monkeypatch.setattr(
        "gpu_checks.tilings.command.run_all", lambda chosen, seed: ((tiling, missing) for tiling in chosen)
    )
    assert main(["mma_f64"]) == 4
    assert capsys.readouterr().out.splitlines()[-1] == "1 UNCHECKED"
    assert main(["mma_f64", "--require"]) == 4 and main(["mma_f64", "--allow-unchecked"]) == 0


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            WorkerError("OSError: a defect\nTraceback\n  in a file"),
            3,
            f"tilings: internal error: OSError: a defect {TRACEBACK}\n",
        ),
        (KeyboardInterrupt(), 130, "tilings: interrupted: 1 of 1 not done\n"),
    ],
)
def test_a_defect_and_an_interruption_are_reported_in_one_line(error, code, said, capsys, monkeypatch):
    def run_all(chosen, seed):
        raise error
        yield

    monkeypatch.setattr("gpu_checks.tilings.command.run_all", run_all)
    assert main(["mma_f64"]) == code
    assert capsys.readouterr().err == said


def test_a_defect_is_reported_by_its_first_line_and_keeps_all():
    try:
        raise ValueError("no such kernel\nlog: line 7")
    except ValueError as error:
        defect = str(reported_defect(error))
    assert defect.startswith("ValueError: no such kernel\nTraceback ") and defect.endswith("log: line 7\n")


class Adding:
    """A kernel that adds the product to the previous content of the result's memory."""

    def __init__(self, product):
        self.product = product

    def launch(self, name, grid, threads, arrays, results):
        self.found = [arrays[i] + self.product.reshape(-1).astype(arrays[i].dtype) for i in results]
        return self

    def results(self):
        return self.found


def test_an_index_is_computed_from_one_variable_or_from_one_for_each_mode():
    layout = Strided.parse("(4,8):(8,1)")
    assert layout.expression("i") == "i % 4 * 8 + i / 4" and layout.expression("t", "v") == "t * 8 + v"
    with pytest.raises(ValueError, match="argument 2 is longer"):
        layout.expression("t", "v", "w")


@pytest.mark.parametrize("text", ["8:1", "(8):(1)", "((4,8),(2)):((32,1),(16))", "Sw<1,0,1> o 0 o (2,2):(2,1)"])
def test_a_layout_is_written_as_it_was_read(text):
    assert str(Strided.parse(text)) == text


def test_only_where_several_threads_sum_one_element_it_begins_at_zero(monkeypatch):
    for name, split in (("mma_f16_split_k", True), ("mma_f16", False), ("mma_s8", False)):
        tiling = NAMED[name]
        matrices = draw(tiling, 3)
        made = product(tiling, matrices)
        monkeypatch.setattr(runner, "load", lambda cubin, made=made: Adding(made))
        assert runner.mismatches(tiling, b"", matrices) == (0 if split else made.size), name


@pytest.mark.parametrize(("parts", "code"), [({}, 0), ({"mismatches": 3}, 1), ({"controls": {"A": 0}}, 3)])
def test_the_exit_code_is_the_verdict(parts, code, capsys, monkeypatch, tmp_path):
    run = RECORDED[0]._replace(**parts)
    monkeypatch.setattr("gpu_checks.tilings.command.run_all", lambda chosen, seed: [(chosen[0], run)])
    assert main(["simt_f32", "--record", str(tmp_path)]) == code
    (line,) = (tmp_path / "nvidia_h200.jsonl").read_text().splitlines()
    assert json.loads(line)["mismatches"] == run.mismatches


@pytest.mark.gpu
def test_every_shipped_tiling_equals_numpy_on_the_gpu_and_its_mutants_do_not():
    info = gpu_checks.device_info()
    runs = dict(run_all(SHIPPED, seed=7))
    for tiling, run in runs.items():
        if isinstance(run, Unavailable):
            assert "needs sm_" in run.reason and info.sm != "sm_90a", (tiling.name, run.reason)
        else:
            assert isinstance(run, TilingRun) and run.equal and run.finds_controls, (
                tiling.name,
                run.mismatches,
                run.controls,
            )


@pytest.mark.gpu
def test_a_wrong_tiling_is_refuted_on_the_gpu():
    wrong = dict(mutants(NAMED["mma_f64"]))["B"]
    run = gpu_checks.tilings.run_tiling(wrong)  # the function, not a module of that name
    assert isinstance(run, TilingRun) and run.mismatches > 0 and not run.equal


def test_what_was_run_and_what_was_not_are_counted_apart(capsys, monkeypatch):
    recorded = {"mma_f64": RECORDED[0]}
    runs = "gpu_checks.tilings.command.run_all"
    monkeypatch.setattr(
        runs, lambda chosen, seed: ((tiling, recorded.get(tiling.name, Unavailable("no GPU"))) for tiling in chosen)
    )
    assert main(["mma_f64", "mma_f16*"]) == 4
    count = sum(name.startswith("mma_f16") for name in NAMED)
    assert capsys.readouterr().out.splitlines()[-1] == f"1 equal, {count} UNCHECKED"
