# SPDX-License-Identifier: Apache-2.0
"""`lanecheck.show` for Python: the command's pictures as a text."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from verify.core.errors import UsageError
from verify.core.wording import in_words
from verify.show import command, subjects

Format: TypeAlias = Literal["text", "svg", "html", "latex"]
OF_COMMAND = ("what", "format", "output", "quiet", "version")  # that aren't options of the function


class PictureText(str):
    """A picture as a text; a notebook draws it if it is SVG or HTML."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        return str(self) if self.startswith("<svg") else None

    def _repr_html_(self) -> str | None:
        return str(self) if self.startswith("<!") else None


def draw(what: str, form: str, options: Mapping[str, Any]) -> PictureText:
    """Return the pictures of an argument in a format. Raises UsageError for an option that there isn't."""
    if form not in command.TEXTS:
        raise UsageError(f"format={form!r}: expected {in_words(command.TEXTS, 'or')}")
    known = {**vars(command.parser().parse_args(["what"])), "what": [what], "format": form}
    if unknown := options.keys() - (known.keys() - {*OF_COMMAND}):
        listed = in_words(sorted(known.keys() - {*OF_COMMAND}), "or")
        raise UsageError(f"show: {min(unknown)}= is not an option: expected {listed}")
    given = {name: as_option(name, value) for name, value in options.items()}
    asked = Namespace(**{**known, **given, "output": "the caller"})
    return PictureText(command.write_pictures(subjects.draw_arguments(asked), asked))


def as_option(name: str, value: Any) -> Any:
    """Return a value as the command's parser makes it of a text.

    >>> as_option("onto", (16, 8)), as_option("rows", (0, 4)), as_option("operand", "A")
    ('16x8', range(0, 4), ['A'])
    """
    if name == "onto" and not isinstance(value, str):
        return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
    if name in ("rows", "columns") and not isinstance(value, range):
        if not (isinstance(value, tuple) and len(value) == 2 and all(type(number) is int for number in value)):
            raise UsageError(f"show: {name}={value!r:.60}: expected two numbers, such as (0, 64)")
        return range(*value)
    if name in ("operand", "only", "atoms") and not isinstance(value, list):
        return [str(part) for part in (value if isinstance(value, tuple) else (value,))]
    return value
