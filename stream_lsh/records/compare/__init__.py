"""Compares two values and returns a level of their similarity, best first.

Level 0 is equality; the last level is for all other pairs.  A missing value has a separate level, `MISSING`, with the
weight 0.  Of several values of a field the best pair counts.
"""

from stream_lsh.records.libraries import require

require()  # every import path without the libraries ends in an error that names the extra to install
