"""What pages, folders and environments offer: links, labels, metadata."""
