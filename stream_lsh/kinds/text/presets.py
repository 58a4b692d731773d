"""Presets: named sets of settings for one use, in place of the defaults.

A pipeline with a preset can still override each of its settings.
"""

from collections.abc import Mapping

DAY_MS = 86_400_000
MIRROR_SHARE = 0.1
"""The default least share of mirrored pages of a published pair of sites."""

Setting = str | int | float | bool | None

PRESETS: Mapping[str, Mapping[str, Setting]] = {
    "news": {
        "threshold": 0.5,
        "retention_ms": 3 * DAY_MS,
        "min_characters": 200,
        "html": "main",
        "stories": True,
    },
    "mirrors": {
        "threshold": 0.8,
        "measure": "containment",
        "retention_ms": 30 * DAY_MS,
        "html": "page",
        "stories": True,
        "mirror_share": MIRROR_SHARE,
    },
}
"""By name: fields of a pipeline of texts, and their values.

news: articles, as text or as pages, with the same news.  Copy of agencies is cut and rewritten, so half of the shingles
are enough for a match; flashes and captions, which have few shingles, have no matches.

mirrors: pages of sites that copy each other, whole or in part, or in a different page frame.
"""
