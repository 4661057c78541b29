"""The causes of a word: what a model looked at and needed when it wrote it, and its repairs.

`evidence()` hides every word of the source, cuts it off and hides the whole, in one batch of
`scored`, and replaces every word of the prefix: hiding its key would leave it in its own row.
`arrows.py` cuts every arrow of one written token, exactly: only the row that writes it is carried
up, and a copy joins the batch for each of a layer's arrows. `ladder.py` goes from an arrow to its
word in the head, the layer, all layers, the word hidden and the word deleted: softmax gives a cut
arrow's weight to keys of like values, so that one arrow alone is seldom the evidence. `repairs.py`
forecasts all changes by forced passes, and decodes only the most promising. What each number means,
and what it cannot say: docs/evidence.md.
"""

from transformer.causes.contrast import Contrast, contrast
from transformer.causes.evidence import Evidence, evidence
from transformer.causes.repairs import Repairs, repairs

__all__ = ["Contrast", "Evidence", "Repairs", "contrast", "evidence", "repairs"]
