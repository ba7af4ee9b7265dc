"""A table with columns of every kind, for examples."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame, Series

__all__ = ["make_rentals"]


def make_rentals(
    n_samples: int = 1000, *, random_state: int | RandomState | None = 0
) -> tuple[DataFrame, Series]:
    """Simulate how many bicycles are rented in an hour.

    Each row is one hour of the years 2023 and 2024, sampled at random. The columns
    are:

    - "hour": from 0 to 23;
    - "temperature": in °C, warmer in summer;
    - "feels_like": the temperature plus noise with a standard deviation of 2 °C;
    - "wind": in km/h, missing in about 5 % of the rows;
    - "pressure": air pressure in hPa, independent of all other columns;
    - "working": True from Monday to Friday;
    - "weather": "clear", "cloudy" or "rain", in this order;
    - "day": the date.

    The number of rentals has a Poisson distribution with the mean::

        400 * curve(hour, working) * exp(-(((temperature - 22) / 18) ** 2))
            * {"clear": 1, "cloudy": 0.9, "rain": 0.5}[weather]
            * exp(-wind / 50) * (1 + (days since 2023-01-01) / 1460)

    On working days, the curve has a peak at 8 and a peak at 17::

        0.1 + exp(-((hour - 8) ** 2) / 4) + exp(-((hour - 17) ** 2) / 8)

    On other days, it has a single peak at 14::

        0.1 + 0.8 * exp(-((hour - 14) ** 2) / 18)

    Where the wind is missing in the table, the mean still depends on it. "pressure"
    and "feels_like" have no effect. But "feels_like" is correlated with
    "temperature", and "day" with "temperature" and "working".

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : int, RandomState instance or None, default=0
        Determines the rows.

    Returns
    -------
    X : pandas.DataFrame
        The columns above: the numbers first, "day" last.
    y : pandas.Series
        "rentals", whole numbers.

    Examples
    --------
    >>> from sklearn_interpret.datasets import make_rentals
    >>> X, y = make_rentals()
    >>> X.head(3)[["hour", "temperature", "working", "weather", "day"]]
       hour  temperature  working weather        day
    0     3         11.1     True   clear 2024-11-15
    1    12         17.7    False  cloudy 2024-07-13
    2    15         12.4    False   clear 2024-09-21
    >>> y.head(3).tolist()
    [40, 216, 275]
    """
    pd = import_module("pandas")
    rng = check_random_state(random_state)
    days = rng.randint(0, 731, n_samples)
    day = pd.Series(pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D"))
    season = np.cos(2 * np.pi * (day.dt.day_of_year - 20) / 365)
    wind = rng.gamma(4, 4, n_samples).round(1)
    weather = rng.choice(["clear", "cloudy", "rain"], n_samples, p=[0.5, 0.3, 0.2])
    temperature = (11 - 9 * season + rng.normal(0, 4, n_samples)).round(1)
    X = pd.DataFrame(
        {
            "hour": rng.randint(0, 24, n_samples),
            "temperature": temperature,
            "feels_like": (temperature + rng.normal(0, 2, n_samples)).round(1),
            "wind": wind,
            "pressure": rng.normal(1013, 8, n_samples).round().astype(int),
            "working": day.dt.day_of_week < 5,
            "weather": pd.Categorical(weather, ordered=True),
            "day": day,
        }
    )
    hour = X["hour"]
    commuters = np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 17) ** 2) / 8)
    afternoon = 0.8 * np.exp(-((hour - 14) ** 2) / 18)
    mean = 400 * (0.1 + np.where(X["working"], commuters, afternoon))
    mean *= np.exp(-(((temperature - 22) / 18) ** 2) - wind / 50)
    mean *= np.select([weather == "cloudy", weather == "rain"], [0.9, 0.5], 1.0)
    y = pd.Series(rng.poisson(mean * (1 + days / 1460)), name="rentals")
    X.loc[rng.uniform(size=n_samples) < 0.05, "wind"] = np.nan
    return X, y
