"""Records to keys: two records that share one are candidates, all others are never compared.

A rule is a conjunction of parts of fields that must be equal; LSH blocking finds values whose q-grams or words are
alike.  Every key is 64 bits, of which bit 0 is cleared as in the keys of text bands, and 0 is no key.
"""
