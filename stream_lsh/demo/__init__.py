"""What the demo feeds: prose that every Python installation carries, and copies of it that were edited."""
