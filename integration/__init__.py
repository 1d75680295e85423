"""End to end: a real index server on loopback, real pips, real files."""
