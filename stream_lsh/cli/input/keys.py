"""Single keys from the terminal, without the Enter key."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from stream_lsh.errors import ConfigError

_END = ("", "\x04")
"""Read at the end of the input, and from Ctrl-D."""
_ESCAPE = "\x1b"
_SEQUENCES = ("[", "O")
"""Behind ESC; a sequence ends with a character from @ to ~."""
_SEQUENCE_S = 0.02
"""The rest of a sequence follows at once."""


def require_terminal(command: str, instead: str) -> None:
    """Check that standard input and output are a terminal.

    Args:
        command: that needs one.
        instead: what to do without one, for the message.

    Raises:
        ConfigError: one of them is a file or a pipe.
    """
    names = [
        name for name, stream in (("input", sys.stdin), ("output", sys.stdout)) if not (stream and stream.isatty())
    ]
    if names:
        raise ConfigError(f"{command} needs a terminal, got a standard {names[0]} that is none: {instead}")


@contextmanager
def single_keys() -> Iterator[None]:
    """Have the terminal pass each key on at once, unseen; as before afterwards.  Ctrl-C still interrupts."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def key() -> str:
    """The next key, in lower case; "" at the end of the input.  A key that sends a sequence, as an arrow, is ESC."""
    pressed = _byte()
    if pressed == _ESCAPE and _follows() and _byte() in _SEQUENCES:
        while _follows() and not "@" <= _byte() <= "~":
            pass
    return "" if pressed in _END else pressed.lower()


def _byte() -> str:
    return os.read(sys.stdin.fileno(), 1).decode("ascii", "replace")


def _follows() -> bool:
    """Whether the rest of a sequence is there."""
    return bool(select.select([sys.stdin.fileno()], [], [], _SEQUENCE_S)[0])
