"""The true results, and the invariants of a run.

oracle      the true results for the produced documents
view        a run at rest beside the true results
invariants  the checks of a run at rest
text_invariants    the checks of texts: matches, members, stories, sites
entity_invariants  the checks of records: pairs, reviews, decisions, entities, scores, frequencies
followers   standbys and copies against a recovery
"""
