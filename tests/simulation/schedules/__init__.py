"""Schedules by seed.

regime      the random choices of a run, and the families of seeds
schedule    one run of a regime
losses      runs in which a topic loses messages
"""
