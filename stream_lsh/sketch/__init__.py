"""Shingle hashes to signatures of fixed length, whose agreement estimates the Jaccard similarity; one scheme a file."""
