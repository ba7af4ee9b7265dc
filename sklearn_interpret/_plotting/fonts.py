"""Letters that the usual font does not have."""

from functools import lru_cache

# What stands for a letter that no font has.
BOX = "\N{WHITE SQUARE}"
# Fonts of wide coverage, which are often installed.
WIDE_FONTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans JP",
    "Noto Sans SC",
    "Source Han Sans",
    "IPAexGothic",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "Hiragino Sans",
    "PingFang SC",
    "Yu Gothic",
    "Meiryo",
    "Microsoft YaHei",
    "SimHei",
    "Malgun Gothic",
    "Arial Unicode MS",
    "Noto Sans",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "Noto Emoji",
    "Segoe UI Symbol",
)


def families_for(text):
    """Font families in which a text can be drawn.

    Parameters
    ----------
    text : str
        All that is to be drawn.

    Returns
    -------
    families : list of str
        Those of matplotlib's settings, and such as have what these lack.
    missing : frozenset of str
        Letters that none of them has.
    """
    import matplotlib

    families = list(matplotlib.rcParams["font.family"])
    missing = {letter for letter in text if letter.isprintable()}
    for family in families:
        missing -= _known(family, frozenset(missing))
    for family in WIDE_FONTS:
        if not missing:
            break
        found = _known(family, frozenset(missing))
        if found:
            families.append(family)
            missing -= found
    return families, frozenset(missing)


def drawable(text, missing):
    """A text in one line, with boxes for letters that cannot be drawn."""
    return "".join(
        BOX if letter in missing else letter if letter.isprintable() else " "
        for letter in text
    )


def _known(family, letters):
    """Those of the letters that a family has."""
    path = _path(family) if letters else None
    if path is None:
        return set()
    from matplotlib.font_manager import get_font

    font = get_font(path)
    return {letter for letter in letters if font.get_char_index(ord(letter))}


@lru_cache(maxsize=64)
def _path(family):
    """File of a family's font; None where it is not installed."""
    from matplotlib.font_manager import FontProperties, findfont

    try:
        return findfont(FontProperties(family=[family]), fallback_to_default=False)
    except ValueError:
        return None
