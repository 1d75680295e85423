"""Tools that call pip, which the tox environment ``workflows`` installs."""
