"""What the demo feeds, and how it judges what comes out; nothing here knows Kafka or a clock.

prose       texts that every Python installation carries
edits       what happens to a text that is copied or corrected
schedule    who publishes, copies, corrects and withdraws what, in which order
tally       what the public topics have said so far
exact       every two texts compared with Python's own sets
report      the table at the end
"""
