# SPDX-License-Identifier: Apache-2.0
"""A finding's text without its example: it stays as it is with other sizes, other data and another seed.

An alert of code scanning is one for each cause, and is found again by its message. Threads, elements and counts are
those of one launch, so they are left out; lines, names and sections of the ISA stay.
"""

from __future__ import annotations

import re

_KEPT = (
    r"[\w./-]+\.\w+:\d+",  # a place in a source
    r"\b(?:PTX )?lines? \d+(?:(?:, | and )\d+)*",
    r"\(ISA [^()]*\)",
    r"\b\w*[A-Za-z_%]\w*\b",  # a name
)
_RULES = (  # what is left out or said without numbers, in this order
    (r" \(also at (?:[^()]|\([^()]*\))*\)", ""),
    (r" \(\d+ times\)", ""),
    (r"; \d+ threads of this instruction do so", ""),
    (r" \(\d+ such accesses in this instruction\)", ""),
    (r"; \d+ of \d+ elements are not", ""),
    (r" is [^;]* on the sample; \d+ of \d+ elements are wrong", " is wrong"),
    (r"; should be \S+ on the sample", ""),
    (r"; out of place: .*", ""),
    (r"; the sum has \d+ terms", ""),
    (r"; it multiplies [^;]*", ""),
    (r" k = \d[\d., ]*(?:and \d+ more ranges)?(?<! )", " some k"),
    (r"CTA (?:\([\d,]+\)|\d+), (?:thread|warp|warpgroup) \d+ and \d+ others", "threads"),
    (r"CTA (?:\([\d,]+\)|\d+), (thread|warp|warpgroup) \d+", r"a \1"),
    (r"CTA (?:\([\d,]+\)|\d+)", "a CTA"),
    (r"\b(thread|warp|warpgroup) \d+", r"another \1"),
    (r"(\b[A-Za-z]\w*)\[[^\]]*\] and \d+ others", r"elements of \1"),
    (r"(\b[A-Za-z]\w*)\[[^\]]*\](?: of \d+(?:x\d+)*)?", r"\1[…]"),
    (r"shared bytes? \d+(?: to \d+)? \((\w+)(?: \+ \d+)?\)", r"shared memory (\1)"),
    (r"shared (?:bytes?|address) \d+", "shared memory"),
    (r"\b(reads|writes) from shared", r"\1 shared"),
)
_NUMBER = re.compile(
    "|".join((*(f"(?P<kept{at}>{pattern})" for at, pattern in enumerate(_KEPT)), r"(?P<number>\d+(?:\.\d+)?)"))
)


def leave_out_example(text: str) -> str:
    """Return a finding's text without threads, elements, sizes and counts.

    >>> leave_out_example("CTA (0,1), thread 96 reads B[88,0] of 88x136; 64 threads of this instruction do so")
    'a thread reads B[…]'
    >>> leave_out_example("phase 1 lacks 1 of 1 arrivals, at a.cu:20 (PTX line 260)")
    'phase N lacks N of N arrivals, at a.cu:20 (PTX line 260)'
    """
    for pattern, instead in _RULES:
        text = re.sub(pattern, instead, text)
    return _NUMBER.sub(lambda match: "N" if match["number"] else match[0], text)
