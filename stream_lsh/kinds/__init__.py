"""The kinds of data: each folder has the settings, messages, scheme, results and files of one kind."""
