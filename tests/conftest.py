"""Settings of the property-based tests."""

from hypothesis import settings

from tests.speeds import EXAMPLES

# No deadline, for a test never fails for being slow; always the same examples, so that
# a failure is seen again by whoever looks for it.
for name, n_examples in EXAMPLES.items():
    settings.register_profile(
        name, deadline=None, derandomize=True, max_examples=n_examples
    )


def pytest_configure(config):
    """Choose the number of examples before the tests are read."""
    thorough = config.getoption("--thorough")
    settings.load_profile("thorough" if thorough else "quick")
