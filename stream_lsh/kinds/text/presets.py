"""Settings that go together, under a name: what a kind of user needs, in place of the defaults.

Whoever names a preset can still set each of them otherwise.
"""

from collections.abc import Mapping

DAY_MS = 86_400_000
MIRROR_SHARE = 0.1
"""Sites of which a tenth is in another one are told, where nobody says otherwise."""

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

news: articles, as text or as pages, that report the same.  Agencies' copy is cut and rewritten, so half of the shingles
are enough; flashes and captions, which have few, are left alone.

mirrors: pages of sites that copy each other, whole or in part, or in a frame of their own.
"""
