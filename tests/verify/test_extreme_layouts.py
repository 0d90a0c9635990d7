# SPDX-License-Identifier: Apache-2.0
"""Malformed and extreme layouts in every command that takes one: never exit code 3, never a traceback."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from tests.samples import many

PLAIN = "(8,64):(64,1)"
SWIZZLES = (
    "Sw<1,60,2>", "Sw<0,60,2>", "Sw<3,57,3>", "Sw<3,4,-3>", "Sw<0,0,63>", "Sw<0,63,0>", "Sw<31,0,32>", "Sw<1,62,1>",
    "Sw<2,3,1>", "Sw<3,4,3> o 8", "Sw<3,4,3> o Sw<1,0,1>", "Sw<-1,4,3>", "Sw<3,4>", "Sw<3,50,3>",
)  # fmt: skip
EXTREME = (
    *(f"{swizzle} o {PLAIN}" for swizzle in SWIZZLES),
    PLAIN, "(8,64):(64,-1)", "(8,64):(-64,1)", "(8,64):(0,0)", "(0,64):(1,1)", "(-8,64):(64,1)", "8:1", "()", "():()",
    "1:0", "(1,1):(0,0)", "((8),(64)):((64),(1))", "(8,(64)):(64,1)", "(8,64)", "(8,64):(64,1):(1,1)", "(8,64):(64,1",
    "", *(f"(8,64):({1 << bits},1)" for bits in (56, 62, 63, 80)), f"({1 << 24},2):(1,{1 << 24})", "(3,5):(7,2)",
    f"({1 << 40},{1 << 40}):(1,1)", "(8,64):(1@0,1@1)", "(8,64):(1@1,1@0)", "(8,64):(64,x1)", "(8,64):(64.0,1)",
    "(" * 70 + "8" + ")" * 70 + ":" + "(" * 70 + "1" + ")" * 70, "(8,64):(true,1)", "é:1", "8\x00:1", "9" * 400 + ":1",
)  # fmt: skip

Command = Callable[[str, Path], Sequence[str]]


def in_file(line: str, head: str = '["own"]\n') -> Command:
    """Return a command line with the layout, as TOML's text, in a file."""

    def arguments(layout: str, folder: Path) -> Sequence[str]:
        text = "".join(f"\\u{ord(letter):04x}" if ord(letter) < 32 else letter for letter in layout)
        (folder / "own.toml").write_text(head + line.replace("LAYOUT", f'"{text}"'), encoding="utf-8")
        return [str(folder / "own.toml")]

    return arguments


def options(*words: str) -> Command:
    return lambda layout, folder: [word.replace("LAYOUT", layout) for word in words]


MMA = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
ATOM = f'ptx = "{MMA}"\nA = A_\nB = B_\nC = C_\n'
RIGHT = {
    "A_": '"((4,8),(2,2)):((32,1),(16,8))"',
    "B_": '"((4,8),2):((16,1),8)"',
    "C_": '"((4,8),(2,2)):((32,1),(16,8))"',
}
COPY = (
    'ptx = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"\nthr = THR\nspace = { Src = "smem", Dst = "reg" }\n'
    "Src = SRC\nDst = DST\nRef = REF\n"
)
SIDES = {
    "THR": '"32:1"',
    "SRC": '"(32,128):(128,1)"',
    "DST": '"(32,(32,4)):(32,(1,1024))"',
    "REF": '"(32,(32,4)):(32,(1,1024))"',
}
TILING = 'atom = "SM80_16x8x16_F32F16F16F32_TN"\natoms_layout = "(2,2,1):(1,2,0)"\ntile = [32, 32, 16]\n'


def with_one(text: str, values: dict[str, str], key: str) -> str:
    for name, value in values.items():
        text = text.replace(name, "LAYOUT" if name == key else value)
    return text


MMA16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
LDMATRIX = ("--from", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "--to", MMA16)
ACCESS = ("--access", "(32,8):(8,1)", "--element", "16", "--width", "128")
TILED = ("--atom", "SM80_16x8x16_F32F16F16F32_TN", "--tile", "32,32,16")
INDEX = f'ptx = "{MMA}"\noperand = "C"\nrow = "lane/4 + 8*(i/2)"\ncol = "lane%4*2 + i%2"\nlang = "c"\n'
LAYOUT, MOVEMENT, TILE, ONE = "verify.layout", "verify.movement", "verify.tiling", "verify.atom"
COMMANDS: dict[str, tuple[str, Command]] = {
    "layout onto": (LAYOUT, options("LAYOUT", "--onto", "8x64")),
    "layout equals": (LAYOUT, options("LAYOUT", "--equals", PLAIN)),
    "layout equal to": (LAYOUT, options(PLAIN, "--equals", "LAYOUT")),
    "shared": (MOVEMENT, options("--shared", "LAYOUT", *ACCESS)),
    "shared store": (MOVEMENT, options("--shared", "LAYOUT", *ACCESS, "--how", "store")),
    "shared 64": (MOVEMENT, options("--shared", "LAYOUT", "--access", "(32,2):(2,1)", "--element", "64")),
    "search": (MOVEMENT, options("--shared", "LAYOUT", *ACCESS, "--search-swizzle")),
    "access": (MOVEMENT, options("--shared", PLAIN, "--access", "LAYOUT", "--element", "16")),
    "global": (MOVEMENT, options("--shared", PLAIN, *ACCESS, "--global", "LAYOUT")),
    "descriptor": (MOVEMENT, options("--descriptor", "LAYOUT", "--element", "32")),
    "offsets": (MOVEMENT, options("--descriptor", "LAYOUT", "--element", "16", "--lbo", "16", "--sbo", "1024")),
    "rows": (MOVEMENT, options(*LDMATRIX, "--rows", "LAYOUT")),
    "values": (MOVEMENT, options(*LDMATRIX, "--values", "LAYOUT")),
    "tile": (MOVEMENT, lambda layout, folder: [*LDMATRIX, "--shared", layout.replace("8,64", "16,16")]),
    "movements": (MOVEMENT, in_file('shared = LAYOUT\naccess = "(32,8):(8,1)"\nelement = 16\nwidth = 128\n')),
    "atoms layout": (TILE, options(*TILED, "--atoms-layout", "LAYOUT")),
    "permutation": (TILE, options(*TILED, "--permutation", "LAYOUT,_,_")),
    "smem": (TILE, in_file(TILING + "smem = { A = LAYOUT }\n")),
    "smem b": (TILE, options(*TILED, "--smem-b", "LAYOUT")),
    "claimed": (TILE, in_file(TILING + "A = LAYOUT\n")),
    **{f"atom {key}": (ONE, in_file(with_one(ATOM, RIGHT, key))) for key in RIGHT},
    **{f"copy {key}": (ONE, in_file(with_one(COPY, SIDES, key))) for key in SIDES},
    "relabel": (ONE, in_file(with_one(ATOM, RIGHT, "") + "relabel = { k = LAYOUT }\n")),
    "identify": ("verify.identify", options("LAYOUT")),
    "show": ("verify.show", options("LAYOUT")),
    "show onto": ("verify.show", options("LAYOUT", "--onto", "8x64")),
    "show file": ("verify.show", in_file(with_one(ATOM, RIGHT, "A_"))),
    "lock": ("verify.lock", in_file(with_one(ATOM, RIGHT, "C_"))),
    "index": ("verify.index", in_file(INDEX + "relabel = { m = LAYOUT }\n")),
}


def draw_layouts(seed: int) -> Iterator[str]:
    """Yield layouts with random swizzles, extents and strides, some with a letter changed."""
    take = random.Random(seed)
    while True:
        rank = take.randint(1, 3)
        extents = [take.choice((1, 2, 3, 4, 8, 16, 32, 64, 0, 1 << 20)) for _ in range(rank)]
        strides = [take.choice((0, 1, 2, 3, 8, 64, -1, 1 << 30, 1 << 55, 1 << 61)) for _ in range(rank)]
        text = f"({','.join(map(str, extents))}):({','.join(map(str, strides))})"
        if take.random() < 0.6:
            text = f"Sw<{take.randint(0, 4)},{take.choice((0, 3, 4, 30, 57, 60, 62))},{take.randint(-5, 5)}> o {text}"
        if take.random() < 0.2:
            at = take.randrange(len(text))
            text = text[:at] + take.choice("(),:0@x<>o _") + text[at + 1 :]
        yield text


def run(name: str, layout: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, command = COMMANDS[name]
    arguments = list(command(layout, folder))
    main = import_module(f"{module}.command").main
    try:
        code = main(arguments)
    except SystemExit as end:
        code = end.code
    except Exception as error:
        pytest.fail(f"{module} {arguments}: {type(error).__name__}: {error}")
    printed = capsys.readouterr()
    assert code != 3 and "internal error" not in printed.err, f"{module} {arguments}: {printed.err}"
    assert "Traceback" not in printed.err, f"{module} {arguments}"


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_no_extreme_swizzle_is_an_internal_error(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for swizzle in SWIZZLES:
        run(name, f"{swizzle} o {PLAIN}", tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_no_extreme_layout_is_an_internal_error(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for layout in EXTREME:
        run(name, layout, tmp_path, capsys)


def test_a_swizzle_beyond_what_is_counted_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    swizzled = ["--shared", f"Sw<1,60,2> o {PLAIN}", *ACCESS]
    assert import_module("verify.movement.command").main(swizzled) == 2
    assert capsys.readouterr().err == "lanecheck: --shared: Sw<1,60,2> moves bits above 2^56\n"


def test_a_swizzle_of_no_bits_is_the_identity_wherever_its_fields_are(capsys: pytest.CaptureFixture[str]) -> None:
    main = import_module("verify.movement.command").main
    plain = main(["--descriptor", PLAIN, "--element", "32", "--format", "json"]), capsys.readouterr().out
    code = main(["--descriptor", f"Sw<0,60,2> o {PLAIN}", "--element", "32", "--format", "json"])
    assert (code, capsys.readouterr().out.replace("Sw<0,60,2> o ", "")) == plain


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_no_drawn_layout_is_an_internal_error(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for layout, _ in zip(draw_layouts(0), range(many(12)), strict=False):
        run(name, layout, tmp_path, capsys)
