"""Corpora, measures of quality, planted copies, slow oracles and brokers, which tests and benchmarks share."""
