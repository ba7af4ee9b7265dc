"""
Which words sent this letter to the wrong department?
=====================================================

A shop sorts letters of customers into three departments: delivery, billing and repair.
A logistic regression on tf-idf weights learns from letters that were sorted by hand.
One letter about a broken kettle goes to delivery. Which words have to go for the model
to send it elsewhere, and which words are enough for its answer?

See the words that are struck out: without "in", "parcel" and "it" the logistic
regression sends the letter to repair. To send it to billing, it takes thirteen words.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sklearn_interpret.counterfactuals import (
    AnchorsDisplay,
    AnchorsText,
    TextCounterfactual,
    TextCounterfactualDisplay,
)

LETTERS = {
    "delivery": """
My parcel has not arrived yet, where is it?
The parcel was left at a neighbour's door
When will my order be delivered?
The courier came while nobody was at home
I moved, please send the parcel to my new address
Tracking says delivered, but no parcel arrived
The order is late again, it should have come on Monday
Please deliver the sofa in the afternoon
Half of my order did not arrive
The courier left the box in the rain
I wait for my parcel since last week
Can I pick up the parcel at the shop?
""",
    "billing": """
You charged my card twice for one order
Please send me an invoice for the lamp
The discount is missing on my invoice
I have paid already, why this reminder?
When do I get the money back for the shoes?
The price on the invoice is wrong
My card was charged, but the order was cancelled
Can I pay by bank transfer?
I need an invoice with the address of my company
The refund has not come to my account
Please explain the extra charge of five euros
I paid the reminder fee by mistake
""",
    "repair": """
The lamp does not turn on any more
A button of the radio is broken
The kettle leaks at the bottom
My new toaster burns on one side
The screen is cracked, is there a warranty?
The drill is broken after two days
The fan makes a loud noise and stops
Please repair the handle of the pan
The battery is dead after an hour
The zip of the bag is broken, can you repair it?
The kettle turns off before the water boils
One leg of the chair is loose
""",
}

LETTER = (
    "The kettle in my last parcel leaks. When the courier arrived, nobody checked it, "
    "and now the button is broken, too. Where can I send it?"
)
texts, labels = [], []
for department, lines in LETTERS.items():
    letters = lines.strip().split("\n")
    texts += letters
    labels += [department] * len(letters)
regression = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
forest = make_pipeline(TfidfVectorizer(), RandomForestClassifier(random_state=0))
for model in (regression, forest):
    model.fit(texts, labels)

# %%
# Words without which the letter goes elsewhere
# ---------------------------------------------
#
# ``TextCounterfactual`` finds the fewest words without which the model answers
# otherwise, and proves that no fewer will do: without them, the letter goes to repair.
# The figure strikes them out. A random forest needs other words to be taken away. With
# ``desired``, the question is what keeps the letter from a certain department, and the
# answer takes more words. Each explanation is a ``RemovalExplanation``.
questions = {
    "Logistic regression": (regression, "other"),
    "Random forest": (forest, "other"),
    "Logistic regression: why not billing?": (regression, "billing"),
}
figure, axes = plt.subplots(3, 1, figsize=(7.2, 4.8), layout="constrained")
for ax, (name, (model, desired)) in zip(axes, questions.items(), strict=True):
    inspector = TextCounterfactual(FrozenEstimator(model), desired=desired)
    explanation = inspector.fit(texts).explain([LETTER])
    print(f"{name}: {explanation.text(0)}")
    TextCounterfactualDisplay.from_explanation(explanation, ax=ax)
    ax.set_title(name, loc="right", fontweight="bold")

# %%
# Words that are enough
# ---------------------
#
# ``AnchorsText`` asks the opposite: with the words of the rule in the letter, the model
# nearly always says "delivery", whatever becomes of the others. Each word of the rule
# is a ``WordCondition``, and the whole a ``RuleExplanation``.
anchors = AnchorsText(FrozenEstimator(regression), random_state=0).fit(texts)
rules = anchors.explain([LETTER])
print(f"Enough for {rules.answers[0]}: {rules.text(0)}")
print(f"  precision {rules.precision[0]:.2f}, coverage {rules.coverage[0]:.2f}")
_ = AnchorsDisplay.from_explanation(rules, target_name="department")
