"""Two values to a level: how much alike they are, in a few steps, best first.

Level 0 is equality; the last level is none of those before.  A missing value has a level of its own, `MISSING`, that
weighs nothing.  Of several values of a field the best pair counts.
"""

from stream_lsh.records.libraries import require

require()  # whoever compares records without the libraries is told what to install, whichever way he came
