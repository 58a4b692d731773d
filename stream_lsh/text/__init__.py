"""Texts to shingle hashes: normalise, cut into windows of characters or words, hash; no Python object per shingle.

scripts                     the scripts of texts, and shingles that suit them
catalog, shingles, advice   shinglers by name, their interface, and the choice of their length
shinglers/                  the shinglers, by the units that they cut texts into
hashing/                    hashes of tokens and windows over many texts at once
normalise, origins          normal forms, and the way back to the original text
passages/                   the passages that texts share
page, page_source           texts of HTML pages
functions                   the functions of a source file
digest, narrow              a number for each bag of shingles; shingles in four bytes
"""
