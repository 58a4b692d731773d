"""The shinglers, by the units that they cut texts into; `stream_lsh.text.catalog` gives them by name."""
