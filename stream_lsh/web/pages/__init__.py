"""The pages: functions from answers of the query API to a `Page`."""
