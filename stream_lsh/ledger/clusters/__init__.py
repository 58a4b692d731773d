"""Clusters: their identity, membership and summaries."""
