"""A family can be left aside, with the rooms that are only its own."""

import runpy
from pathlib import Path

import pytest

from tests.test_arrows import MODULES, own_imports, room

SCRIPT = Path(__file__).parents[1] / ".ci" / "make_family_table.py"
MADE = runpy.run_path(str(SCRIPT))
# Which other families each family uses; no others are allowed.
USES = {
    "diagnosis": {"shapley"},
    "importance": {"additive", "effects", "interactions"},
    "influence": {"surrogates"},
    "interactions": {"additive", "effects"},
    "report": {
        *("counterfactuals", "diagnosis", "effects", "importance", "influence"),
        *("interactions", "prototypes", "shapley", "surrogates"),
    },
    "survival": {"effects"},
}


def test_few_families_use_others():
    uses = {}
    for name, imported in own_imports().items():
        if name not in MADE["TOP"]:
            others = {room(other)[1] for other in imported} - {None, room(name)[1]}
            if others:
                uses.setdefault(room(name)[1], set()).update(others)
    assert uses == USES


@pytest.mark.parametrize("family", MADE["FAMILIES"])
def test_nothing_else_needs_a_family_and_its_own_rooms(family):
    own = {name for name in MODULES if room(name)[1] == family}
    own |= MADE["own_rooms"](family)
    apart = {family, *MADE["users"](family)}
    needing = {
        name
        for name in MODULES.keys() - own - MADE["TOP"]
        if room(name)[1] not in apart and own_imports()[name] & own
    }
    # Other rooms that need them serve families that use this one, and go with these.
    of_users = set().union(*map(MADE["own_rooms"], apart))
    assert needing <= of_users


def test_the_page_has_the_table_of_now():
    text = MADE["PAGE"].read_text(encoding="utf-8")
    assert text == MADE["page"](), f"run python {SCRIPT.parent.name}/{SCRIPT.name}"
