# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.spec [COMMAND …]` shows what the command lines do now that they did not; `--write` records it.

Read the difference before you commit it: a commit that changes a verdict or an exit code on purpose lists each change.
"""

from __future__ import annotations

import argparse
import time

from tests.spec.observe import RECORDED, compare, lines_of, load_lines, load_results, observe, write_results


def main() -> int:
    """Print the differences, and how long each command takes; return 1 if there is one and --write is absent."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="of lines.toml (default: all)")
    parser.add_argument("--write", action="store_true", help="record what they do now")
    parser.add_argument("--times", type=float, metavar="S", help="name the lines that take S seconds or more")
    options = parser.parse_args()
    changed = 0
    for command in options.commands or load_lines()["lines"]:
        before, results, began = load_results(command), {}, time.perf_counter()
        for line in lines_of(command):
            start = time.perf_counter()
            results[line] = observe(line)
            took = time.perf_counter() - start
            if options.times is not None and took >= options.times:
                print(f"{took:6.2f} s  {line}", flush=True)
            if shown := compare(line, results[line], before.get(line)):
                changed += 1
                print(shown, flush=True)
        if options.write:
            write_results(command, results)
        print(f"{command}: {len(results)} lines, {time.perf_counter() - began:.1f} s", flush=True)
    if options.write and not options.commands:
        for path in RECORDED.glob("*.json"):
            if path.stem not in load_lines()["lines"]:
                path.unlink()
    return 1 if changed and not options.write else 0


if __name__ == "__main__":
    raise SystemExit(main())
