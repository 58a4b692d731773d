"""Committed bytes of every message kind, per format version: `v1_<kind>.hex`.

They fix the format: `tests/unit/kinds/test_golden.py` fails when the present code writes other bytes for the same
value, or cannot read these.  When a format version is added, the files of the old one stay and must still be read.

    python -m tests.golden          writes the files of the current format version again

Only do that before a format has been released, or for a new format version.
"""
