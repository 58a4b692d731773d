"""Proposes a profile for unknown records from their values.

types       the type of a column
columns     columns of standardised values, without placeholders for missing values
neighbours  the most similar record of each record, by all text
answers     columns that hold the answer, or number the records
sources     sources without duplicates
related     columns that repeat each other
blocking    rules, and the recall and the work that they predict
proposal    the profile, with the reasons
"""

from stream_lsh.records.infer.proposal import SAMPLE, Inferred, infer, inferred

__all__ = ["SAMPLE", "Inferred", "infer", "inferred"]
