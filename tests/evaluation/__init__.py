"""Corpora, measures of quality, planted copies and slow oracles, which tests and benchmarks share."""
