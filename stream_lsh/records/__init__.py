"""Entity resolution: which records - people, companies, products, bibliographic entries - are the same thing.

    model         a record, and a batch of records as columns
    profile       what is known of a kind of records: fields, comparisons, blocking rules, thresholds, what was learned
    standardise   values as they came to values that can be compared, one type of field a file
    block         records to keys: two records that share one are candidates
    compare       two values to a level, best first, one comparator a file
    frequencies   how often each value occurs, kept record by record: rare values weigh more
    score         levels to bits of evidence, after Fellegi and Sunter, or to a weighted mean
    train         what a level is worth, learned from the records themselves or from labels
    survivorship  which values of the records of one thing make its golden record
    infer         a profile for records of which nothing is known

Nothing here reads a file, a clock or the environment.
"""
