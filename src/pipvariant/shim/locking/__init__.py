"""Lock files: read as requirements, and written."""
