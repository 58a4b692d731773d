"""The stream of the demo and the judgement of its results; nothing here knows Kafka or a clock.

stories       news stories, assembled from sentences
edits         edits of a text that is copied or corrected
schedule      the events: outlets publish, copy, correct and withdraw stories
tally         the results so far, from the public topics
exact         every two texts compared with Python's own sets
side_by_side  two texts in columns, with their differences
report        the table at the end
"""
