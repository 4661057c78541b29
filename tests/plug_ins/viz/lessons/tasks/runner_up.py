"""Which word does a row look at second?"""

from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task, percent_of


def ask(seen: Seen) -> str:
    return f"Which word does the row ‘{seen.row_word}’ look at second?"


def truth(seen: Seen) -> int:
    return int(seen.weights.argsort(descending=True)[:2][-1])


def hint(seen: Seen, reply: Reply) -> str:
    return f"The first one gets {percent_of(seen.weights.max())}: which comes next?"


def explain(seen: Seen) -> str:
    second = truth(seen)
    return f"‘{seen.words[second]}’ gets {percent_of(seen.weights[second])}."


TASK = Task("runner_up", "word", ask, truth, hint, explain)
