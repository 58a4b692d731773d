"""Texts to shingle hashes: normalise, cut into windows of characters or words, hash; no Python object per shingle."""
