"""What is our own in the room of scikit-learn's private names."""

import pytest

from sklearn_interpret._model._sklearn_compat import warn_deprecated


def test_deprecation_names_the_version_of_removal_at_the_call():
    """Names go two minor versions later; the warning points at the user's line."""
    package = {"__name__": "sklearn_interpret.effects", "warn": warn_deprecated}
    exec("def old(): warn('old', '0.9', 'new')", package)
    message = (
        r"^Use new: old is deprecated since version 0\.9 and will be removed in 0\.11\."
    )
    with pytest.warns(FutureWarning, match=message) as caught:
        package["old"]()
    assert caught[0].filename == __file__
