"""The interface of signature schemes, and their guarantees.

A signature has no meaning without its scheme: name, version, slots and seed are stored with the bytes, and two
signatures are compared only if all four are equal.
"""

from typing import Protocol

import numpy as np

from stream_lsh.arrays import U32
from stream_lsh.errors import ConfigError
from stream_lsh.text.shingles import Shingles

EMPTY_SLOT = 0xFFFFFFFF
"""The value of every slot of a document without shingles, and of no slot of any other."""

MOST_SLOTS = 65_536
"""The longest signature."""


class SignatureScheme(Protocol):
    """Shingles to signatures.

    Guarantees:
        for documents A and B with shingles, each slot agrees with a probability equal to their Jaccard similarity,
        over the choice of the hash functions.  Repetitions of a shingle change nothing.  The signature of A ∪ B is
        the minimum of the two, slot by slot.  A signature depends on its document alone, not on the batch.
    """

    @property
    def name(self) -> str:
        """The name in the catalog."""

    @property
    def version(self) -> int:
        """Raised whenever the signature of any document changes."""

    @property
    def slots(self) -> int:
        """The length of a signature."""

    @property
    def seed(self) -> int:
        """Chooses the hash functions."""

    def __call__(self, shingles: Shingles) -> U32:
        """One signature a document: uint32[n, slots]."""


def require_numpy(version: str) -> None:
    """Refuses a numpy whose `minimum.at` is the old one, a hundred times slower.

    Raises:
        ConfigError: numpy below 1.25 -> upgrade it.
    """
    major, minor = (int(part) for part in version.split(".")[:2])
    if (major, minor) < (1, 25):
        raise ConfigError(
            f"numpy: got version {version}, expected 1.25 or newer; upgrade it with: pip install 'numpy>=2'"
        )


require_numpy(np.__version__)


def check_settings(name: str, slots: int, **others: tuple[int, int, int]) -> None:
    """Refuses settings outside their ranges.

    Args:
        name: of the scheme.
        slots: 1 to 65,536.
        others: further settings by name, each as (value, least, greatest).

    Raises:
        ConfigError: all settings that are wrong -> choose a value within the range that the message gives.
    """
    settings = {"slots": (slots, 1, MOST_SLOTS), **others}
    problems = [
        f"{name}: got {setting} = {value}, expected {least} to {greatest}"
        for setting, (value, least, greatest) in settings.items()
        if not least <= value <= greatest
    ]
    if problems:
        raise ConfigError(problems)
