"""The path of records from the broker to an agent: in order, without gaps, after the tables have recovered."""
