"""The clock that goes on while the machine sleeps and while the process is stopped."""

import time

_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # Linux has it; a Mac's monotonic clock is one


def boot_seconds() -> float:
    """Seconds since the machine started, sleep included."""
    return time.clock_gettime(_BOOT_CLOCK)
