"""What all patches are made of: the patches themselves, what differs between pips, state."""
