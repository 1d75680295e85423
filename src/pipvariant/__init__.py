"""pip that understands variant wheels."""

__version__ = "0.1.0"
