"""The fingerprint of a scheme: one number for all settings that define the meaning of signatures and buckets.

Two workers with equal fingerprints compute the same signature and the same buckets for every text; their other settings
do not matter here.  It is the hash of

    MurmurHash3 x64 128, low half, seed 0x534C5348, of UTF-8(JSON of the settings, keys sorted, no spaces, not escaped)

so a setting counts with its name, its type (1, 1.0 and "1" differ) and its value.
"""

import json
from collections.abc import Mapping
from typing import Any

import mmh3
import numpy as np

_SEED = 0x534C5348

Setting = str | int | float


def fingerprint(settings: Mapping[str, Setting]) -> int:
    """The fingerprint of these settings: an unsigned 64-bit integer.

    Guarantees:
        the same on every machine, whatever the order of the mapping, and for numbers of numpy as for equal ones of
        Python; two schemes share one with probability 2^-64.

    Example:
        >>> fingerprint({"k": 128, "b": 16}) == fingerprint({"b": 16, "k": 128})
        True
        >>> fingerprint({"k": 128}) == fingerprint({"k": "128"})
        False
    """
    form: Mapping[str, Any] = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False, "allow_nan": False}
    canonical = json.dumps(dict(settings), default=np.generic.item, **form)
    return mmh3.hash64(canonical.encode("utf-8", "surrogatepass"), _SEED, signed=False)[0]


def differences(ours: Mapping[str, Setting], theirs: Mapping[str, Setting]) -> list[str]:
    """The report for an operator about a different fingerprint: one line per setting that differs, by name.

    Example:
        >>> differences({"bands": 16, "seed": 1}, {"bands": 20})
        ['bands: ours 16, theirs 20', 'seed: ours 1, theirs not set']
    """
    lines = []
    for name in sorted({*ours, *theirs}):
        our_value, their_value = _shown(ours, name), _shown(theirs, name)
        if our_value != their_value:
            lines.append(f"{name}: ours {our_value}, theirs {their_value}")
    return lines


def _shown(settings: Mapping[str, Setting], name: str) -> str:
    return repr(settings[name]) if name in settings else "not set"
