# SPDX-License-Identifier: Apache-2.0
"""Campaigns as a kind of file: their results are counts, so no other verb takes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verify.core.registry import Signs
from verify.kind import Kind

if TYPE_CHECKING:
    from layouts.toml.tables import ReadTables
    from verify.campaign.spec import CampaignSpec


def list_specs() -> Sequence[type]:
    """Return the sorts of campaigns."""
    from verify.campaign.spec import KINDS

    return tuple(KINDS.values())


def read_campaigns(path: Path) -> ReadTables[CampaignSpec]:
    """Return the campaigns of a file, and all errors of the others."""
    from verify.campaign.spec import read_campaigns

    return read_campaigns(path)


CAMPAIGN: Kind[CampaignSpec] = Kind(
    name="campaign",
    singular="a campaign",
    plural="campaigns",
    example=("examples/campaign.toml",),
    command="verify.campaign.command",
    lists="--count",
    signs=Signs(frozenset({"kind"}), "campaigns"),
    specs=list_specs,
    read=read_campaigns,
)
