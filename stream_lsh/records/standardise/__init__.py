"""Values as they came to values that can be compared: one type of field a file.

Every standardiser is a pure function from a text to a text, "" where it says nothing.  It never fails: what it cannot
read it keeps, cleaned.  What it gives it leaves as it is, so a value may be standardised again.
"""
