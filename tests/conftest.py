"""How many cases Hypothesis tries: `mutants` is chosen with --hypothesis-profile."""

from __future__ import annotations

from hypothesis import Phase, settings

settings.register_profile("ordinary", deadline=None, max_examples=80)
# The same few cases for each mutant, and the first one that fails is enough.
settings.register_profile(
    "mutants",
    deadline=None,
    max_examples=25,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("ordinary")
