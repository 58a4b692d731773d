"""Exact similarity joins: all pairs of sets that reach a threshold, without comparing all pairs.

    strings       sets as strings of symbols in one fixed order, the rarest first, the shortest string first
    prefix_hits   strings that share one of their first symbols, and its position in each
    candidates    pairs that pass one of the four filters
    join          the candidates of one of the four filters, compared exactly
    online        the filter `suffix` for sets that arrive one by one

The filters, each applied after the previous one:

    length        strings whose lengths allow a match
    prefix        of these, strings that share one of their first symbols
    position      of these, strings whose first shared symbol is early enough in both
    suffix        of these, strings with enough symbols after it in both

All four return the pairs of a comparison of all pairs, and each compares only pairs that the previous one compares.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9; Bayardo, Ma and Srikant, Scaling up
all pairs similarity search, 2007; Xiao, Wang, Lin and Yu, Efficient similarity joins for near duplicate detection,
2008.
"""
