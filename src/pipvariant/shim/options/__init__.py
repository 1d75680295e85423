"""What the user says: options of pip's commands, lines of requirements files."""
