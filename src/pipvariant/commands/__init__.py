"""``pip-variant variant ...``: parse, call, print. The only package that prints."""
