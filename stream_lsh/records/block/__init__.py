"""Computes blocking keys: two records that share a key are candidates, all others are never compared.

A rule is a conjunction of parts of fields that must be equal; LSH blocking finds values with similar q-grams or words.
Every key has 64 bits, of which bit 0 is clear as in the keys of text bands, and 0 stands for no key.
"""
