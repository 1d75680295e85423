"""What pip's resolvers are given, and in which order."""
