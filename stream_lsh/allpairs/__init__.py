"""All pairs of similar documents, exactly and without signatures: three rounds of a columnar engine."""
