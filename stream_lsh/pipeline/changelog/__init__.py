"""Changelogs: their records, their heads, and their rewriters."""
