"""How predictable a kernel's branches are, from their outcomes.

The history of an outcome is the work-item's previous outcomes of the same branch, at most `HISTORY` of them.
- Yokota branch entropy: the Shannon entropy in bits of the patterns of history and outcome
  (Yokota, Ootsu, Baba, "Introducing Entropies for Representing Program Behavior and Branch Predictor
  Performance", ExpCS 2007; AIWC uses 16 outcomes too).
- Average linear branch entropy: the mean over executions of 2 * min(p, 1 - p), p the share of taken outcomes
  of that branch after that history (De Pestel, Eyerman, Eeckhout, "Linear Branch Entropy", IEEE Trans.
  Computers 66(3), 2017): twice the misses of the best predictor that sees this history.

AIWC's own figures differ: it joins the outcomes of work-items into one string.
"""

HISTORY = 16
