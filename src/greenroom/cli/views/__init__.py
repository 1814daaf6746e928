"""Word results for people: functions from a command's data to text. Nothing is looked up here."""
