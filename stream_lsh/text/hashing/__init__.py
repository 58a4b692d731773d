"""Hashes of tokens and of windows over many texts at once, without a Python object for each."""
