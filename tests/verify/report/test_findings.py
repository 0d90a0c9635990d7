# SPDX-License-Identifier: Apache-2.0
"""What findings mean: each has all its texts."""

from __future__ import annotations

from verify.report.findings import read_findings


def test_each_finding_says_what_it_means_and_how_to_fix_it() -> None:
    assert len(read_findings()) > 50
    for code, finding in read_findings().items():
        assert finding.keys() == {"of", "means", "example", "fix"}, code
        assert all(text.strip() for text in finding.values())
