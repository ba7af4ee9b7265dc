"""
Which words make a comment spam?
================================

Two models learn to tell spam from honest comments on music videos: a logistic
regression on tf-idf weights, and a decision tree that counts words. LIME leaves words
of a comment out, lets the model predict for the rest, and fits a small linear model to
its predictions: the weight of a word is what the probability of spam gains by the
word's being there.

See that the logistic regression uses many words a little, and the tree a single one:
"my".
"""

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret.surrogates import LimeText, LimeTextDisplay

SPAM = """
Check out my channel for new covers every week
Please subscribe to my channel, I need 100 subscribers
FREE gift cards here, just click the link
Visit my page and win a free phone
Make money from home, visit this website
I earn 500 dollars a day, click here to see how
Subscribe to my channel and I will subscribe back
Check my new video on my channel please
Win free tickets, just click on the link in my profile
Hey guys, please check out my music on my channel
Get free followers now at this website
Who wants a free gift card? Visit my page
Please check out my band, link in my profile
Click here for free downloads of this and other songs
Sub for sub? Check my channel
Make 1000 dollars a week, no joke, visit my website
New beats every day on my channel, please subscribe
Best prices for phones, click the link now
Please help me reach 1000 subscribers, check my channel
Win money now, free entry, click here
I make covers too, come and check my channel
Visit this website for free music and gift cards
Guys, check out this video I made, please subscribe
Free free free! Click my link to win a phone
Follow me and I follow back, link on my page
Please watch my first video and subscribe
Earn money with your phone, check this link
Click my profile for free game codes
Come visit my channel for dance videos, please
Subscribe now and win a gift card
My channel has better songs, check it out
Get rich now, free course, link here
Please like my page and win free shoes
Hot deals at my website, visit now
Check this out, free coins for your game, click here
I just made a new song, please check my channel
"""

HONEST = """
What a beautiful song, I love her voice
This song never gets old
I listen to this every morning before work
Best song of the year, no doubt
The drummer is amazing in the second part
My mother used to sing this to me
I can not stop listening to this
Who else is here after the concert?
Her voice gives me goosebumps every time
The video was filmed in my home town
Love the dance in the middle of the video
This reminds me of the summer of 2010
The lyrics are so sad and so true
I miss this kind of music
We danced to this song at our wedding
What a voice, what a woman
Still the best video ever made
My favourite part is the guitar solo
This was number one when I was born
So happy that I saw them live last week
The bass is great with good headphones
I love how the colours change in this video
My daughter knows every word of this song
Nobody sings like this today
This made me cry at work
The piano at the end is beautiful
I have listened to it a hundred times
Why did they ever break up?
Greetings from Brazil, we love you
The old version was better, but I like it
That high note, how does she do it?
Such good memories of school
The whole album is great
It is three in the morning and I am still here
My little brother dances to this every day
Two billion views and it deserves them all
I feel free when I hear this song
The first time I heard it was on the radio
"""

COMMENT = (
    "What a voice! Please check out my channel, new songs every week, and win a phone"
)
MISTAKEN = "Please check how free her voice is now, my favourite song on this channel"

spam, honest = SPAM.strip().split("\n"), HONEST.strip().split("\n")
texts = spam + honest
labels = ["spam"] * len(spam) + ["honest"] * len(honest)
models = {
    "Logistic regression on tf-idf": make_pipeline(
        TfidfVectorizer(), LogisticRegression(C=10)
    ),
    "Decision tree on counts": make_pipeline(
        CountVectorizer(), DecisionTreeClassifier(min_samples_leaf=3, random_state=0)
    ),
}
explainers = {
    name: LimeText(
        FrozenEstimator(model.fit(texts, labels)),
        n_features_to_select=8,
        target="spam",
        random_state=0,
    ).fit(texts)
    for name, model in models.items()
}

# %%
# One comment, two models
# -----------------------
#
# The regression adds up many words, and "What" speaks against spam, as in "What a
# voice!". The tree is as sure, but asks for a single word: "my". All others could be
# replaced. The local R squared above each text tells how far the small linear model
# follows the large one.
figure, axes = plt.subplots(1, 2, figsize=(7.2, 4.6), layout="constrained")
for ax, (name, explainer) in zip(axes, explainers.items(), strict=True):
    display = LimeTextDisplay.from_estimator(explainer, [COMMENT], ax=ax)
    display.axes_[0, 0].set_title(name, loc="left", fontweight="bold")

# %%
# The result is a ``TextExplanation``, which knows where each word stands.
for name, explainer in explainers.items():
    explanation = explainer.explain([COMMENT])
    print(f"{name}: P(spam) = {explanation.predictions[0]:.2f},", end=" ")
    print(f"local R squared {explanation.fidelity[0]:.2f}")
    for word, weight in explanation.words(0)[:4]:
        print(f"  {word:10}{weight:+.3f}")

# %%
# A mistake
# ---------
#
# An honest comment that the regression takes for spam, and why: the words, not their
# sense, are what it knows.
_ = LimeTextDisplay.from_estimator(
    explainers["Logistic regression on tf-idf"], [MISTAKEN]
)
