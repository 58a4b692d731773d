"""The part that texts and sets share: schemes, buckets and comparers of shingle sets."""
