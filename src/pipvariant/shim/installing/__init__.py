"""Wheels on the disk: what is checked before, and recorded beside what is installed."""
