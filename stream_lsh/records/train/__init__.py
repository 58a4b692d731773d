"""Estimates the match weights of levels, with or without labels.

patterns     reduces pairs to the distinct combinations of their levels, with counts
agreement    expects pairs without any difference to match, beyond chance
expectation  expectation-maximisation over the combinations
dependence   measures how well equal values of one field predict those of another one
learning     selects the pairs, and writes the weights to the profile
"""
