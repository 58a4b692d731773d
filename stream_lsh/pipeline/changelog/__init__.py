"""Changelogs: their records, their heads, and how they are rewritten."""
