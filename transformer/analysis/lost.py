"""Words of a source that left no trace: nothing that is written becomes less probable without them.

A translation that reads well may say less than its source. Here a word of the source counts as lost
where the whole of what is written does without it, in both ways: nobody sees it (`hide`), and the
decoder alone may not read it (`cut-word`). What one written word needs says less: a neighbour often
leans on a lost word, while the translation as a whole gets no worse, or better.

All numbers are of `en-de`, on sentences that it was not trained on, as one reader labelled outputs
of greedy and beam search: 254 good ones, close to their references, and 79 that had lost words. A
threshold and a weight that were chosen on one half said something of 5 of the good ones in the
other, both ways, and found 91 of 122 lost words. Of 198 outputs of the beam that nobody had chosen
they were wrong of 8, each time of a set phrase whose words say the same together. Hence the second
look at neighbours, and the phrases that are listed. As it stands the rule says nothing of 127 of
the good outputs, and finds 33 of 47 lost words (70 %, in 23 of 30 outputs). Of 247 outputs that
were not chosen all it says is right, and it finds 12 of 26 words that a strict reader missed there;
before a phrase was listed for it, it was wrong of one of the 66 that nothing had been changed for.
It misses a word whose cost went to a wrong one in its place, or whose neighbour takes it over. What
it says of other models was not measured.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

from transformer.analysis.scored import in_batches, output_of, scored
from transformer.checkpoint import Checkpoint
from transformer.decoding.shared_batch import OnStep
from transformer.editing.checking import side_read
from transformer.edits.edit import Edit, EditError
from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.recording import Recording
from transformer.refusal import visible
from transformer.token import Token
from transformer.words import word_groups, words_of

LOST = 0.1
"""Nats below which a content word is a candidate. At .1, .2 and 1 something was said of 2, 4 and 18
of the 254 good outputs, before candidates had a second look."""
NEAR = 0.7
"""Nats below which a neighbour belongs to the same span: 79 of 83 spans held a lost word so."""
SHARE = 0.3
"""The share of hiding beside cutting: .79 of the lost words where something was said of 2 % of the
good outputs; cutting alone finds .70, hiding alone .66."""
WINDOW, BACKED = 2, 1.5
"""Words on both sides; the nats that a candidate costs once one of them is hidden, from which on
that one says the same: so it is with the halves of *tell apart* or *right now*. Names are no
halves."""
LEAST = -2.0
"""Nats below which neither counts further: what gains so much by it stands in the way, and would
hide what the other one says."""

_ENGLISH = """
'd 'll 'm 're 's 've a about above according across after again against ago all along already also
although always am among an and another any anyone anything are around as at away back be because
been before behind being below between both but by came can come comes coming could did do does
doing done down during e.g each either else etc even ever every everybody everyone far few for
from gave get gets getting give given gives giving go goes going gone got had has have having he
her here herself him himself his how however i i.e if in into is it its itself just least let
let's like lot made make makes many may me might mine more most much must my myself n't neither
never no nobody nor not nothing now of off often on once one ones only onto or other ought our
ourselves out over own past per please put puts putting quite rather really respectively round
same shall she should since so some somebody someone something still such take taken takes taking
than that the their them themselves then there these they this those though through to too took
toward towards under until up upon us used very via was we well went were what when where whether
which while who whom whose why will with within without would yes yet you your yours yourself
"""
_ENGLISH_PHRASES = """
a bit of, a couple of, a little bit, a matter of, a number of, a pair of, a piece of, as long as,
as soon as, by means of, deal of, due to, great number of, in addition to, in front of, in order
to, in spite of, in terms of, instead of, kind of, kinds of, large number of, lots of, no longer,
no matter, on behalf of, on top of, pairs of, pieces of, plenty of, prior to, regardless of, right
away, right now, sort of, sorts of, with regard to, with respect to
"""
_OF_ENGLISH = (*_ENGLISH.split(), *_ENGLISH_PHRASES.strip().replace("\n", " ").split(", "))
FUNCTION_WORDS = dict.fromkeys(("en", "eng"), frozenset(_OF_ENGLISH))
"""Language -> its function words and light verbs, and phrases that do the work of one: nothing is
said of them, since others do it as well. A language without such a list is not judged."""
LONGEST = 3
"""Words of such a phrase, at most."""
OPENS = (
    *("across", "at", "by", "during", "for", "from", "in"),
    *("into", "of", "on", "through", "to", "with"),
)
"""Function words that a span may begin with, as in *for three days*."""
NOT_LISTED = (
    "Lost words are not looked for: nothing says that {} reads English, and of other languages no "
    "function words are listed."
)


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Lost:
    """A word of the source, or some that follow each other, without a trace in what is written."""

    text: str
    """The words themselves."""
    words: tuple[int, ...]
    """Their numbers among the source's words, by `word_groups`."""


TRACE: Mapping[str, str] = {
    "lost": "{words} left no trace in the translation.",
    "several": "{first} and {last}",
    "known": (
        "Neither hiding {it} nor keeping the decoder from {it} makes the translation less probable."
    ),
    "one": "it",
    "many": "them",
}
"""All that is said of lost words, with their places."""


def lost_sentence(lost: Sequence[Lost]) -> str:
    """Say what left no trace, in a sentence; nothing where nothing is lost.

    >>> lost_sentence([Lost("upstairs", (2,)), Lost("for three days", (6, 7, 8))])
    '“upstairs” and “for three days” left no trace in the translation.'
    """
    *most, words = [f"“{visible(each.text)}”" for each in lost] or [""]
    if most:
        words = TRACE["several"].format(first=", ".join(most), last=words)
    return TRACE["lost"].format(words=words) if words else ""


def how_known(lost: Sequence[Lost]) -> str:
    """Say how `lost_sentence` is known."""
    return TRACE["known"].format(it=TRACE["one" if len(lost) == 1 else "many"])


def function_words(checkpoint: Checkpoint) -> Collection[str]:
    """List those of the language that a translator reads; none where it is unknown, or has no list.

    Its language is what it was told (`eng_Latn` of NLLB), or the first of the pair with which its
    recipe's name begins, or its folder's ends: `en-de-small`, `opus-mt-en-de`.
    """
    language = getattr(checkpoint.config, "source_language", None)
    if language:
        return FUNCTION_WORDS.get(language.split("_")[0], ())
    code = "[a-z]{2,3}"
    pair = re.match(f"({code})-{code}(?:-|$)", checkpoint.about.recipe)
    pair = pair or re.search(f"(?:^|-)({code})-{code}$", checkpoint.name)
    return FUNCTION_WORDS.get(pair[1], ()) if pair else ()


def may_lose(checkpoint: Checkpoint, recording: Recording) -> bool:
    """Tell whether lost words can be looked for: something is written, and read across."""
    is_written = bool(recording.target) and "cross" in recording.attentions
    return is_written and bool(function_words(checkpoint))


def traces(hidden: Tensor, cut: Tensor) -> Tensor:
    """Return what the whole of what is written loses without each word of the source [S], in nats.

    hidden, cut: [S], of either the sum over all that is written.
    """
    return cut.clamp_min(LEAST) + SHARE * hidden.clamp_min(LEAST)


def lost_words(
    checkpoint: Checkpoint,
    text: str,
    source: Sequence[Token],
    target: Sequence[Token],
    log_prob: float,
    values: Tensor,
    edits: Sequence[Edit] = (),
    on_step: OnStep | None = None,
) -> tuple[Lost, ...]:
    """Find the spans of a source that left no trace in a target.

    log_prob: of the whole target, in nats. values: [S], by `traces`. Where there are candidates,
    some more runs tell those apart that a neighbour says as well. Raises InputError.
    """
    words, stop_words = words_of(source), function_words(checkpoint)
    places = [i for i, group in enumerate(word_groups(source)) if not source[group[0]].special]
    costs = {i: float(values[i]) for i in places}
    content = content_words({i: words[i] for i in places}, stop_words) if stop_words else set()
    closed = {edit.numbers[0] for edit in edits if edit.name == "hide"}
    stems = {i: words[i].lower().removesuffix("s" * (len(words[i]) > 3)) for i in places}
    often = Counter(stems.values())
    sure = {i for i in content - closed if costs[i] < LOST and often[stems[i]] == 1}
    if not sure:
        return ()
    doubtful = [i for i in sorted(sure) if i == places[0] or not words[i][0].isupper()]
    pairs = [(i, j) for i in doubtful for j in places if 0 < abs(i - j) <= WINDOW]
    more = _pairs(checkpoint, text, target, log_prob, pairs, edits, on_step) if pairs else []
    backed = {i for (i, j), cost in zip(pairs, more, strict=True) if cost - costs[j] >= BACKED}
    near = {i for i in places if i not in closed and costs[i] < NEAR and _is_spoken(words[i])}
    return lost_spans(words, sure - backed, near, content)


def lost_spans(
    words: Sequence[str], sure: Set[int], near: Set[int], content: Set[int]
) -> tuple[Lost, ...]:
    """Join lost words to spans. sure: the numbers of those that are lost; near: of those that may
    stand beside them; content: of those with which a span may begin and end.
    """
    spans = []
    for is_near, group in groupby(range(len(words)), near.__contains__):
        span = list(group)
        if not is_near or sure.isdisjoint(span):
            continue
        while span[-1] not in content:
            span.pop()
        while span[0] not in content and words[span[0]].lower() not in OPENS:
            span.pop(0)
        spans.append(Lost(" ".join(words[i] for i in span), tuple(span)))
    return tuple(spans)


def content_words(words: Mapping[int, str], stop_words: Collection[str]) -> set[int]:
    """Number the words that are none of those listed, alone or in a phrase, and no signs."""
    phrases = _phrases(list(words.values()), stop_words)
    return {
        i
        for k, (i, word) in enumerate(words.items())
        if k not in phrases and _is_content(word, stop_words)
    }


def _pairs(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token],
    log_prob: float,
    pairs: Sequence[tuple[int, int]],
    edits: Sequence[Edit],
    on_step: OnStep | None,
) -> list[float]:
    """Return what the target loses without both words of each pair, by `traces`."""
    groups = [_hidden(checkpoint, edits, *pair) for pair in pairs]
    groups += [_cut(edits, *pair) for pair in pairs]
    hidden, cut = (log_prob - _totals(checkpoint, text, target, groups, on_step)).view(2, -1)
    return traces(hidden, cut).tolist()


def _hidden(checkpoint: Checkpoint, edits: Sequence[Edit], *words: int) -> tuple[Edit, ...]:
    return (*edits, *(Edit("hide", side_read(checkpoint), (i,)) for i in words))


def _cut(edits: Sequence[Edit], *words: int) -> tuple[Edit, ...]:
    return (*edits, *(Edit("cut-word", "cross", (i,)) for i in words))


def _totals(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token],
    groups: Sequence[Sequence[Edit]],
    on_step: OnStep | None,
) -> Tensor:
    """Return the log-probability of the whole target under each group of edits [N]."""
    output, parts = output_of(checkpoint, text, target), []
    batches = all(in_batches(checkpoint, group) for group in groups)
    for part in scored(checkpoint, output, groups, batches, on_step):
        if part.refused:
            raise EditError(part.refused[0])
        parts.append(part.log_probs.double().sum(-1))
    return torch.cat(parts)


def _is_spoken(word: str) -> bool:
    """Tell whether it is no sign."""
    return any(map(str.isalnum, word))


def _is_content(word: str, stop_words: Collection[str]) -> bool:
    """Tell whether it is no sign, and none of those words, as a whole or before an apostrophe."""
    plain = word.lower().replace("’", "'")
    is_listed = plain in stop_words or plain.split("'")[0] in stop_words
    return len(word) > 1 and _is_spoken(word) and not is_listed


def _phrases(words: Sequence[str], stop_words: Collection[str]) -> set[int]:
    """Number the words that are in a listed phrase, such as *in front of*."""
    plain, runs = [word.lower() for word in words], range(2, LONGEST + 1)
    return {
        i + k
        for n in runs
        for i in range(len(words) - n + 1)
        if " ".join(plain[i : i + n]) in stop_words
        for k in range(n)
    }


def losses(
    checkpoint: Checkpoint,
    text: str,
    source: Sequence[Token],
    target: Sequence[Token],
    edits: Sequence[Edit] = (),
    on_step: OnStep | None = None,
) -> tuple[Lost, ...]:
    """Find what one target lost, of a model with cross-attention, by two runs for each word read.

    source: the tokens that are read. edits: in force all the while. on_step: called before each
    batch. Raises InputError.
    """
    words = range(len(word_groups(source)))
    groups = [tuple(edits), *(_hidden(checkpoint, edits, i) for i in words)]
    groups += [_cut(edits, i) for i in words]
    totals = _totals(checkpoint, text, target, groups, on_step)
    whole, hidden, cut = totals.split([1, len(words), len(words)])
    inputs = (checkpoint, text, source, target, float(whole))
    return lost_words(*inputs, traces(whole - hidden, whole - cut), edits, on_step)
