# SPDX-License-Identifier: Apache-2.0
"""Campaigns as a kind of file: their results are counts, so no other verb takes them."""

from __future__ import annotations

from verify.campaign.spec import KINDS, CampaignSpec, read
from verify.core.registry import Signs
from verify.kind import Kind

CAMPAIGN: Kind[CampaignSpec] = Kind(
    name="campaign",
    one="a campaign",
    plural="campaigns",
    example=("examples/campaign.toml",),
    command="verify.campaign.command",
    lists="--count",
    signs=Signs(frozenset({"kind"}), "campaigns"),
    spec=tuple(KINDS.values()),
    read=read,
)
