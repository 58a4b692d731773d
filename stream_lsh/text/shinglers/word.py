r"""Word shingles: every run of k tokens.

A token is a run of `\w` of the lower-cased text: letters, digits and the underscore of every script, with their marks.
Scripts without spaces produce long tokens; `mixed:k` splits them into characters.
"""

from stream_lsh.text.hashing.tokens import WORDS, WORDS_1
from stream_lsh.text.shinglers.runs import TokenShingler


class WordShingler(TokenShingler):
    """Every run of k tokens of a text, hashed; fewer than k tokens are padded to one shingle, none give none.

    Args:
        k: tokens in a shingle, 1 to 64.
        seed: chooses the multipliers and the salts of the hashes.
        full: fewer than k tokens have no shingle.
        first: marks separate tokens, as in version 1.

    Guarantees:
        equal runs of tokens have equal hashes, regardless of the text between the tokens; different ones collide with a
        probability of some 2^-64 a pair.
    Cost:
        some 5 ns a character; besides the result a few megabytes and the lower-cased text.

    Example:
        >>> shingles = WordShingler(2)(["The cat, the cat!", "the CAT", "...", "cat"])
        >>> shingles.counts.tolist(), bool(shingles.hashes[0] == shingles.document(1)[0])
        ([3, 1, 0, 1], True)
    """

    kind = "word"
    tokeniser = WORDS
    first_tokeniser = WORDS_1
