"""What the target system supports, and who says so."""
