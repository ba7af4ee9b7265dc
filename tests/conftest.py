"""Settings of the property-based tests."""

from hypothesis import settings

# No deadline, for a test never fails for being slow; always the same examples, so that
# a failure is seen again by whoever looks for it.
settings.register_profile("project", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("project")
