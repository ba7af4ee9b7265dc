"""Tables of categories whose classes are known, as learners of rules are tried on."""

from itertools import product

import numpy as np

_LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8)]
_LINES += [(0, 4, 8), (2, 4, 6)]


def _has_won(board, player):
    return any(all(board[i] == player for i in line) for line in _LINES)


def tic_tac_toe():
    """Return the 958 boards on which games end, and whether x, who began, has won."""
    boards, ends = {"b" * 9}, set()
    for turn in range(9):
        player = "xo"[turn % 2]
        played = {
            board[:i] + player + board[i + 1 :]
            for board in boards
            for i in range(9)
            if board[i] == "b"
        }
        over = {b for b in played if _has_won(b, player) or turn == 8}
        ends, boards = ends | over, played - over
    X = np.array([list(board) for board in sorted(ends)])
    return X, np.array([_has_won(board, "x") for board in X])


def monks(noise=11):
    """Return the 432 rows of the third monk's problem, one label in 11 wrong."""
    X = np.array(list(product("123", "123", "12", "123", "1234", "12")))
    y = (X[:, 4] == "3") & (X[:, 3] == "1") | (X[:, 4] != "4") & (X[:, 1] != "3")
    return X, y ^ (np.arange(len(X)) % noise == 0)
