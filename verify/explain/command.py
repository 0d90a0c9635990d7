# SPDX-License-Identifier: Apache-2.0
"""`lanecheck explain CODE`: what a finding means, an example, and its fix; `findings.toml` has the texts."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from lanecheck.console.command import Help, Version
from lanecheck.console.exits import RULE
from verify.cli import arguments, ending, output
from verify.core.errors import Exit, UsageError
from verify.core.names import nearest
from verify.report.findings import read_findings

DESCRIPTION = """Explain a finding: what it means, an example, and how to fix it. CODE is the name of a property, as a
report has it in JSON, JUnit and SARIF. Without CODE, list the codes."""
EPILOG = f"""example:
  lanecheck explain ownership

{RULE}"""
HEAD = """# Findings

What each finding means, and how to fix it. A code is the `property` of a verdict in JSON and the rule id in SARIF;
`lanecheck explain ownership` prints one section of this page, and `lanecheck explain --format markdown` the whole page.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Explain the findings that the arguments name; return the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> Exit:
    options = _parser().parse_args(argv)
    known = read_findings()
    for code in options.codes:
        if code not in known:
            raise UsageError(f"no finding has the code {code!r}{_hint(code)}")
    if options.format == "markdown":
        sections = map(_write_markdown, options.codes)
        output.write("\n".join(sections) if options.codes else write_page(), options.output)
    elif options.codes:
        output.write(output.wrap_report("\n".join(map(_write_text, options.codes)), options.output), options.output)
    else:
        width = max(map(len, known))
        output.write("".join(f"{code:<{width}}  of {row['of']}\n" for code, row in known.items()), options.output)
    return Exit.OK


def _hint(word: str) -> str:
    """Return the codes whose text has a word that reports say, such as *race*; else the nearest code."""
    word_alone = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    tell = [code for code, entry in read_findings().items() if any(map(word_alone.search, entry.values()))]
    return f"; {word!r} is explained by {', '.join(tell[:5])}" if tell else nearest(word, [*read_findings()], "finding")


def _parser() -> argparse.ArgumentParser:
    parser = arguments.Parser(prog="lanecheck explain", description=DESCRIPTION, epilog=EPILOG, formatter_class=Help)
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    parser.add_argument("codes", nargs="*", metavar="CODE", help="of a finding, such as ownership")
    parser.add_argument("--format", choices=("text", "markdown"), default="text", help="how to write it")
    arguments.add_output(parser, "write it there instead of stdout")
    return parser


def write_page() -> str:
    """Return docs/findings.md."""
    return "\n".join([HEAD, *map(_write_markdown, read_findings())])


def _write_text(code: str) -> str:
    row = read_findings()[code]
    return f"{code}: a finding on {row['of']}\n  {row['means']}\n  example: {row['example']}\n  fix: {row['fix']}\n"


def _write_markdown(code: str) -> str:
    row = read_findings()[code]
    return f"## {code}\n\nOf {row['of']}. {row['means']}\n\n- **Example.** {row['example']}\n- **Fix.** {row['fix']}\n"
