"""Real index servers, which the tox environments ``servers-*`` install."""
