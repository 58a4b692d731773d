"""Estimates the match weights of levels, with or without labels.

patterns     reduces pairs to the distinct combinations of their levels, with counts
agreement    expects pairs without any difference to match, beyond chance
expectation  expectation-maximisation over the combinations
learning     selects the pairs, and writes the weights to the profile
"""
