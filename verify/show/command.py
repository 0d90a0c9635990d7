# SPDX-License-Identifier: Apache-2.0
"""`lanecheck show WHAT`: draw a map in the terminal, or as SVG, HTML, LaTeX or PNG."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanecheck.console.command import Help, Version, add_execution, width
from lanecheck.console.exits import RULE
from verify import kinds
from verify.cli import arguments, ending, output
from verify.core.errors import UsageError
from verify.core.wording import in_words
from verify.pictures import html, latex, png, svg
from verify.pictures.terminal import Style, render
from verify.show import subjects

if TYPE_CHECKING:
    from verify.pictures.picture import Picture
    from verify.show.subjects import ShownPictures

EPILOG = f"""example:
  lanecheck show SM80_16x8x16_F32F16F16F32_TN --svg -o atom.svg

{RULE}

They are those of the check `isa`, which is the only one that is made."""
TEXTS = ("text", "svg", "html", "latex")
FORMATS = (*TEXTS, "png")
RANGE = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


def main(argv: Sequence[str] | None = None) -> int:
    """Draw what the arguments name; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    options = parser().parse_args(argv)

    if options.format == "png" and not options.output:
        raise UsageError("a PNG is written to a file: add -o FILE.png")
    shown = subjects.draw_arguments(options)
    if options.format == "png":
        output.write_content(png.document(shown.pictures), options.output)
    else:
        output.write(write_pictures(shown, options), options.output)
    return shown.code


def describe() -> str:
    """Return what may be drawn, by the rows of the kinds."""
    files = [kind.plural for kind in kinds.all() if kind.signs and kind.verifier]
    ways = [kind.argument for kind in kinds.all() if kind.argument and (kind.drawing or kind.shipped)]
    every = [*ways, f"a TOML file of {in_words(files, 'or')}", "a report that `--format json` wrote"]
    return (
        f"Draw who has which element, by the layout and by the PTX ISA. WHAT is {in_words(every, 'or')}. "
        "The check `isa` is made, or read from the report; nothing is proved. A layout is compared with no instruction "
        "unless --ptx and --operand name one."
    )


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    made = arguments.Parser(prog="lanecheck show", description=describe(), epilog=EPILOG, formatter_class=Help)
    made.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    made.add_argument("what", nargs="+", metavar="WHAT", help="an atom, a layout, an instruction, a FILE, a report")
    made.add_argument("--only", action="append", default=[], metavar="NAME", help="only these entries of the files")
    made.add_argument("--operand", action="append", default=[], metavar="NAME", help="only these panels: A, B, C, ...")
    words = "of a layout: the instruction that it is --operand of, which marks where they differ"
    made.add_argument("--ptx", metavar="MNEMONIC", help=words)
    made.add_argument("--atoms", action="append", default=[], metavar="FILE", help="atoms of a TOML file; repeatable")
    add_execution(made)
    made.add_argument("--onto", metavar="MxN", help="of a layout: the tile that its (thread, value) points lie in")
    made.add_argument("--table", action="store_true", help="of a layout or atom: each thread's elements")
    made.add_argument(
        "--banks", type=arguments.positive, metavar="BITS", help="of a layout: the bank of each element of so many bits"
    )
    made.add_argument("--thread", type=_natural, metavar="T", help="of a tiling: the steps to its part")
    made.add_argument("--rows", metavar="A:B", type=_range, help="only rows A to B-1")
    made.add_argument("--columns", metavar="A:B", type=_range, help="only columns A to B-1")
    made.add_argument("--format", choices=FORMATS, default="text", help="how to draw")
    for name in FORMATS[1:]:
        words = f"the same as --format {name}"
        made.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=words)
    arguments.add_output(made, "write the picture there instead of stdout")
    made.add_argument("--no-unicode", action="store_true", help="as text: only ASCII marks")
    made.add_argument("-q", "--quiet", action="store_true", help="as text: one line for each subject")
    return made


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 9:
        raise argparse.ArgumentTypeError(f"expected the number of a thread, found {text[:50]!r}")
    return int(text)


def _range(text: str) -> range:
    match = RANGE.fullmatch(text)
    if match is None:
        wanted = "expected two numbers of at most nine digits, such as 0:64"
        raise argparse.ArgumentTypeError(f"{wanted}, found {text[:50]!r}")
    chosen = range(int(match[1]), int(match[2]))
    if not chosen:
        raise argparse.ArgumentTypeError(f"{text!r} chooses none: A:B is A to B-1, so B should be larger than A")
    return chosen


def write_pictures(shown: ShownPictures, options: argparse.Namespace) -> str:
    """Return the pictures in the format of the options."""
    pictures: Sequence[Picture] = shown.pictures
    if options.format == "svg":
        return svg.document(pictures)
    if options.format == "html":
        return html.page(pictures)
    if options.format == "latex":
        return latex.document(pictures)

    to_stdout = options.output is None
    colour, columns = to_stdout and output.has_colour(), width(to_stdout and output.on_terminal())
    style = Style(columns, colour, not options.no_unicode)
    between = "" if options.quiet else "\n"
    return between.join(render(picture, style, options.quiet) for picture in pictures)
