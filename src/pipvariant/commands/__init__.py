"""``pip-variant variant ...``: parse, call, print. The only room that prints."""
