"""Converts raw values to standard forms for comparison, with one type of field per file.

Every standardiser is a pure function from a text to a text, "" for a text without content.  It never fails: a text that
it cannot parse is cleaned and kept.  It is idempotent, so a value may be standardised again.
"""
