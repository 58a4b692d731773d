"""The slow, obvious ledger: objects that point at each other.  The one in `stream_lsh/ledger` must say the same."""
