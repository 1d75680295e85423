"""What the user reads."""
