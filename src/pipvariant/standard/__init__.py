"""The standard as pure code: filenames, properties, metadata, ranking and markers."""
