"""Pips that pip starts, and what is built."""
