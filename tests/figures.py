"""Figures that are drawn to be read, or to see that they can be."""

from matplotlib.text import Text


def draw(figure):
    """Draw everything where it stands: the layout takes as long again."""
    figure.set_layout_engine("none")
    figure.draw_without_rendering()


def all_texts(figure):
    """Everything that stands written on the figure, as it is drawn."""
    draw(figure)
    return [
        text.get_text().replace(r"\$", "$").replace("\n", "")
        for text in figure.findobj(Text)
        if text.get_visible()
    ]


def row_names(display):
    """Names along the vertical axis, as they are drawn."""
    return [
        text.get_text().replace(r"\$", "$").replace("\n", "")
        for text in display.ax_.get_yticklabels()
    ]
