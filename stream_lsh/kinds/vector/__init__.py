"""Vectors: hyperplanes, lines or positions as hash functions, compared by their distance."""
