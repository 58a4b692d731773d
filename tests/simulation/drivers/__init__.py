"""Workers on the simulated log.

process     the state of a worker
recovery    tables in memory, recovered from changelogs
tables      the contents of tables in a form that can be compared
tasks       the package's agents with their input
worker      processes that drive these agents; a schedule may interrupt them at every effect
"""
