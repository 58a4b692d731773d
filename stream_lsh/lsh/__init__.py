"""Signatures to buckets: banding, its S-curve, and the choice of bands and rows."""
