"""The band-bucket table: chained postings in segments by time, caps for hot buckets."""

from stream_lsh.index.hits import Hits
from stream_lsh.index.table import BandTable

__all__ = ["BandTable", "Hits"]
