"""Exact similarity joins: all pairs of sets from a threshold on, without comparing every two, and without missing one.

    strings       sets as strings of symbols in one fixed order, the rarest first, the shortest string first
    prefix_hits   strings that share one of their first symbols, and where in each it stands
    candidates    pairs that pass one of the four filters
    join          the candidates of one of the four, compared exactly
    online        the last of them for sets that come one by one

The filters, each behind the one before it:

    length        strings whose lengths allow a match
    prefix        of these, those that share one of their first symbols
    position      of these, those whose first shared symbol stands early enough in both
    suffix        of these, those that have enough left behind it in both

All four give the pairs that a comparison of every two gives, and each compares no pair that the one before it does not.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9; Bayardo, Ma and Srikant, Scaling up
all pairs similarity search, 2007; Xiao, Wang, Lin and Yu, Efficient similarity joins for near duplicate detection,
2008.
"""
