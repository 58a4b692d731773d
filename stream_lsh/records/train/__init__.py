"""What a level is worth, learned without labels or with.

patterns     pairs to the distinct combinations of their levels, with how often each occurs
expectation  expectation-maximisation over them
learning     which pairs are looked at, and what goes into the profile
"""
