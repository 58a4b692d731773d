"""Sensitive families: hash functions that agree for near items and differ for far ones; one family a file."""
