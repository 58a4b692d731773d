"""Texts: shingled, sketched, compared by their shingle sets."""
