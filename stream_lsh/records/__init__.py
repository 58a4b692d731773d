"""Entity resolution: finds the records - people, companies, products, bibliographic entries - of one entity.

    model         a record, and a batch of records as columns
    profile       the definition of a comparison: fields, comparisons, blocking rules, thresholds, trained weights
    standardise   converts raw values to standard forms, with one type of field per file
    block         computes the blocking keys of records: two records that share a key are candidates
    compare       compares two values and returns a level, best first, with one comparator per file
    frequencies   counts the values of live records: rare values weigh more
    given         computes the weights of values that an equal value of another field predicts
    score         converts levels to match weights, after Fellegi and Sunter, or to a weighted mean
    train         estimates the weights of levels, from records without labels or from labels
    survivorship  selects the values of an entity's records for its golden record
    infer         proposes a profile for records with unknown columns

No module here reads a file, a clock or the environment.
"""
