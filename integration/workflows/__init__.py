"""Real index servers, which the tox environment ``servers`` installs."""
