"""Measurements against the peers, contenders interleaved in one process; the figures stand in README.md beside this."""
