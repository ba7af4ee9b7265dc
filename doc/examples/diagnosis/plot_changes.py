"""
Two seasons of a table are compared
===================================

A model of hourly bicycle rentals was fitted to the first half of the winter rows. In
the summer rows, the mean prediction is larger. ``ChangeAttribution`` splits the
difference over the features, and with targets also the difference of the loss.

See that the temperature explains most of the larger prediction, and that intervals of
the loss are wide.
"""

from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.datasets import make_rentals
from sklearn_interpret.diagnosis import ChangeAttribution, ChangeDisplay

# %%
# Winter is from November to April, summer from May to October. The model sees half of
# the winter rows; the other half are the old rows, which it has not seen.
X, y = make_rentals(3000, random_state=0)
is_summer = X["day"].dt.month.between(5, 10)
X = X.drop(columns="day")
winter, winter_y = X[~is_summer], y[~is_summer]
summer, summer_y = X[is_summer], y[is_summer]
model = HistGradientBoostingRegressor(categorical_features="from_dtype")
model.fit(winter[::2], winter_y[::2])

# %%
# The steps lead from the mean prediction in winter to that in summer. Thin lines are
# 95 % intervals of the steps.
frozen = FrozenEstimator(model)
inspector = ChangeAttribution(frozen, loss="absolute_error", random_state=0)
inspector.fit(winter[1::2], winter_y[1::2])
change = inspector.compare(summer, summer_y)
display = ChangeDisplay.from_change(change, target_name="rentals")

# %%
# The same for the mean absolute error. It is larger in summer, which is warm: the
# winter rows say little about losses there. The intervals include this uncertainty.
# "Targets given features" is the part that no feature explains.
display = ChangeDisplay.from_change(change.loss)
print(change.loss)
