"""The hook: files of an environment that make its own pip variant-aware."""
