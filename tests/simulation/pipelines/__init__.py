"""The pipelines of the schedules.

setup       settings of a run
scheme      texts that name their shingles
items       the scheme of sets
entities    pipelines of records: scores that move, counted values, decisions
intake      sources that are not keyed by id
"""
