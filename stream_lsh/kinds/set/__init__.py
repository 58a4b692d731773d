"""Sets of items, and fingerprints on a grid."""
