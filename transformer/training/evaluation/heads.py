"""Heads of a translator judged: word alignment against people's, and BLEU with each head off."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from transformer.analysis.ablation import heads_off, rewrite_with
from transformer.analysis.alignment import (
    ROWS,
    AlignedPair,
    Link,
    Links,
    Reader,
    diagonal,
    error_rate,
    links_of,
    words_of_pieces,
)
from transformer.analysis.reading import lenses
from transformer.checkpoint import Checkpoint
from transformer.edits.edit import Edit
from transformer.extras import require
from transformer.files.foreign_text import write_whole
from transformer.inputs import InputError
from transformer.recording import Attention, Recording
from transformer.recording.ours import record
from transformer.training.evaluation.stage import stage_links, stage_pairs
from transformer.training.evaluation.translations import say
from transformer.training.task import Scores, TrainingError, read_lines
from transformer.training.translation import PAIRS, TESTS, MissingData, need, read_pairs
from transformer.words import text_words

# Word alignments made by people: pairs of sentences, their words and the links between them.

RWTH, BICICI = "gold_alignment_de_en_rwth", "gold_alignment_de_en_bicici"


def aligned(
    source: tuple[str, Sequence[str]],
    target: tuple[str, Sequence[str]],
    sure: Sequence[Link],
    possible: Sequence[Link] = (),
) -> AlignedPair:
    """source, target: the text and its words. Raises TrainingError for a link to no word."""
    links = [*sure, *possible]
    if any(not (0 <= i < len(source[1]) and 0 <= j < len(target[1])) for i, j in links):
        raise TrainingError(f"a link leads to no word of “{source[0]}”, “{target[0]}”.")
    words = tuple(source[1]), tuple(target[1])
    return AlignedPair(source[0], target[0], *words, frozenset(sure), frozenset(links))


def stage_alignments() -> list[AlignedPair]:
    """The sentences of the stage set that were aligned by hand."""
    return [
        aligned((source, text_words(source)), (target, text_words(target)), links)
        for (source, target), links in zip(stage_pairs(), stage_links(), strict=True)
        if links
    ]


def rwth_alignments(data: Path | None) -> list[AlignedPair]:
    """The 508 sentences of RWTH Aachen (Vilar et al. 2006). Raises MissingData.

    A line of links is "de-en" for a sure one and "depen" for a possible one, counted from 1.
    """
    sentences = _sentences(data, RWTH, "test.uc.en", "test.uc.de")
    file = need(data, RWTH, "alignment.talp")
    lines = [line.split() for line in read_lines(file.parent, file.name)]
    if len(lines) != len(sentences):
        raise TrainingError(f"{file} has {len(lines)} lines for {len(sentences)} sentences.")
    return [
        aligned(
            *sentence,
            sure=[_turned(link, "-") for link in line if "-" in link],
            possible=[_turned(link, "p") for link in line if "p" in link],
        )
        for sentence, line in zip(sentences, lines, strict=True)
    ]


def _turned(link: str, between: str) -> Link:
    german, _, english = link.partition(between)
    return int(english) - 1, int(german) - 1


def bicici_alignments(data: Path | None) -> list[AlignedPair]:
    """The 100 lower-cased sentences of Bicici (2011). Raises MissingData.

    A line is "sentence de en S": sentences are counted from 1, words from 0; all links are sure.
    One of the 1,233 published links leads past the end of its sentence and is left out.
    """
    sentences = _sentences(data, BICICI, "test.en", "test.de")
    file = need(data, BICICI, "de-en.ref.wa")
    links: list[list[Link]] = [[] for _ in sentences]
    for line in read_lines(file.parent, file.name):
        number, german, english = map(int, line.split()[:3])
        if english < len(sentences[number - 1][0][1]):
            links[number - 1].append((english, german))
    return [aligned(*sentence, sure=of) for sentence, of in zip(sentences, links, strict=True)]


def _sentences(
    data: Path | None, room: str, english: str, german: str
) -> list[tuple[tuple[str, list[str]], tuple[str, list[str]]]]:
    """Both sides of every pair: the text as a person writes it, and the words of the set."""
    files = need(data, room, english), need(data, room, german)
    sides = [
        [line.removeprefix("\ufeff").split() for line in read_lines(file.parent, file.name)]
        for file in files
    ]
    if len(sides[0]) != len(sides[1]):
        raise TrainingError(f"{files[0]} and {files[1]} differ in their number of lines.")
    return [((as_text(en), en), (as_text(de), de)) for en, de in zip(*sides, strict=True)]


def as_text(words: Sequence[str]) -> str:
    """Words as a person writes them: spaces between them, but none before a closing sign.

    >>> as_text(["That", "is", "(", "not", ")", "Tom", "'s", "."])
    "That is (not) Tom's."
    """
    text = ""
    for before, word in zip(("(", *words), words, strict=False):
        glued = before == "(" or word in {*".,;:!?)%"} or word.startswith("'")
        text += word if glued else f" {word}"
    return text


# Word alignment by cross-attention: every head and layer against alignments made by people.

LENSES = {"weight": "weights", "value_norm": "value norms", "sum_norm": "sum of heads"}


def evaluate_alignment(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """Alignment error rates of the stage set's aligned sentences and of the gold sets.

    Per set: of the best head and of the best mean over a layer's heads, chosen on that set, for
    both readings of rows and each lens in LENSES; and of the diagonal. The decoder is given the
    set's own German sentence. A set that the data folder lacks is left out, and that is said.
    """
    sets: dict[str, Callable[[], list[AlignedPair]]] = {
        "Stage alignment": stage_alignments,
        "RWTH alignment": partial(rwth_alignments, data),
        "Bicici alignment": partial(bicici_alignments, data),
    }
    result: Scores = {}
    for title, pairs_of in sets.items():
        try:
            pairs = pairs_of()
        except MissingData as error:
            say(f"{title}: left out: {error}")
            continue
        scores = error_rates(checkpoint, pairs, title)
        result |= {f"{title}, {name}": value for name, value in scores.items()}
    return result


def error_rates(
    checkpoint: Checkpoint, pairs: Sequence[AlignedPair], title: str | None = None
) -> Scores:
    """Row name -> alignment error rate in percent. title: of a progress bar; None draws none."""
    by_reader: dict[Reader, list[Links]] = defaultdict(list)
    bar = tqdm(pairs, desc=title, disable=title is None, unit="sentence", dynamic_ncols=True)
    for pair in bar:
        for reader, links in readings(checkpoint, pair):
            by_reader[reader].append(links)
    rates = {reader: error_rate(links, pairs) for reader, links in by_reader.items()}
    scores: Scores = {"sentences": len(pairs)}
    scores["diagonal, AER"] = error_rate(map(diagonal, pairs), pairs)
    for rows, row_title in ROWS.items():
        for lens, lens_title in LENSES.items():
            of = {r: rate for r, rate in rates.items() if (r.rows, r.lens) == (rows, lens)}
            scores |= {f"{lens_title}, {row_title}, {n}, AER": v for n, v in _best(of).items()}
    return scores


def _best(rates: dict[Reader, float]) -> Scores:
    """The best head and the best layer among the readers of one kind."""
    heads = [reader for reader in rates if reader.head is not None]
    layers = [reader for reader in rates if reader.head is None]
    kinds = {"best head": heads, "best layer mean" if heads else "best layer": layers}
    best = {kind: min(readers, key=rates.__getitem__) for kind, readers in kinds.items() if readers}
    return {f"{kind} ({reader.name})": rates[reader] for kind, reader in best.items()}


def readings(checkpoint: Checkpoint, pair: AlignedPair) -> Iterator[tuple[Reader, Links]]:
    """Every reader's alignment of one pair. Raises TrainingError where the model cannot read it."""
    try:
        recording = record(checkpoint, pair.source, pair.target)
        attention = recording.attentions["cross"]
        columns = words_of_pieces(attention.keys, pair.source_words)
        sides = {"produced": attention.produced or (), "read": attention.queries}
        rows = {name: words_of_pieces(tokens, pair.target_words) for name, tokens in sides.items()}
    except (InputError, ValueError, KeyError) as error:
        raise TrainingError(f"“{pair.source}” cannot be aligned: {error}") from error
    for lens, layer, heads, values in _maps(recording):
        for name, words in rows.items():
            for head, links in zip(heads, links_of(values, words, columns), strict=True):
                yield Reader(name, layer, head, lens), links


def _maps(recording: Recording) -> Iterator[tuple[str, int, list[int | None], Tensor]]:
    """Lens, layer and what each of its maps [N, Q, K] is of: every head, then None, their mean."""
    for name in LENSES:
        lens = lenses()[name]
        for layer in range(recording.attentions["cross"].n_layers):
            values = lens.compute(recording, "cross", layer)
            if not lens.per_head:
                yield name, layer, [None], values
                continue
            both = torch.cat([values, values.mean(0, keepdim=True)])
            yield name, layer, [*range(len(values)), None], both


# BLEU with each head off, and with only one head in a layer (Michel et al. 2019, tables 1, 2).
#
# All of these models translate a sentence at once, a row of a batch each, by greedy decoding.

N_SAMPLES = 1000
"""The samples of the paired bootstrap (Koehn 2004)."""
P = 0.01
"""Below it a difference is called significant, as Michel et al. do."""
KINDS = {"encoder_self": "Encoder", "decoder_self": "Decoder", "cross": "Cross"}


def head_bleu(checkpoint: Checkpoint, file: Path, n: int, out: Path | None) -> dict[str, Any]:
    """file: source, tab, reference per line. The first n are translated. Raises Refusal.

    out: where the tables are written as Markdown.
    """
    if checkpoint.family.name != "encoder_decoder":
        raise InputError(f"{checkpoint.name} does not translate: BLEU needs a translator of ours.")
    require("scores")
    rows = read_pairs(file)[:n]
    off = heads_off(checkpoint)
    groups = [(), *((edit,) for edit in off), *(_others(edit, off) for edit in off)]
    outputs = _translated(checkpoint, [row[0] for row in rows], groups)
    scores, significant = _compared(outputs, [row[1] for row in rows])
    base, k = scores[0], len(off)
    scores_by_way = {
        "off": dict(zip(off, zip(scores[1 : 1 + k], significant[:k], strict=True), strict=True)),
        "only": dict(zip(off, zip(scores[1 + k :], significant[k:], strict=True), strict=True)),
    }
    text = markdown(checkpoint.name, file.name, len(rows), base, scores_by_way)
    if out is not None:
        write_whole(out, text.encode())
    result: dict[str, Any] = {"sentences": len(rows), "BLEU": base}
    for what, scores_of in scores_by_way.items():
        for edit, (score, is_significant) in scores_of.items():
            name = f"{KINDS[edit.place]} L{edit.layer} H{edit.head} {what}"
            result[name] = f"{score - base:+.2f}{' *' * is_significant}"
    return result


def _others(edit: Edit, off: Sequence[Edit]) -> tuple[Edit, ...]:
    """All heads of its layer but itself."""
    layer = [each for each in off if (each.place, each.layer) == (edit.place, edit.layer)]
    return tuple(each for each in layer if each != edit)


def _translated(
    checkpoint: Checkpoint, sources: Sequence[str], groups: Sequence[Sequence[Edit]]
) -> list[list[str]]:
    """[groups][sources]; empty, and said, where the model refuses to read a source."""
    outputs: list[list[str]] = [[] for _ in groups]
    for source in tqdm(sources, desc="Heads off", unit="sentence", dynamic_ncols=True):
        try:
            groups_written = rewrite_with(checkpoint, source, groups)
            texts = [checkpoint.tokenizer.decode(ids) for ids in groups_written]
        except InputError as error:
            say(f"counted as an empty translation: {error}")
            texts = [""] * len(groups)
        for texts_of, text in zip(outputs, texts, strict=True):
            texts_of.append(text)
    return outputs


def _compared(
    outputs: Sequence[Sequence[str]], references: Sequence[str]
) -> tuple[list[float], list[bool]]:
    """BLEU of each, and of all but the first whether it differs from that of the first."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    systems: list[tuple[str, Sequence[str]]] = [(str(i), texts) for i, texts in enumerate(outputs)]
    test = PairedTest(systems, {"BLEU": BLEU()}, [references], "bs", n_samples=N_SAMPLES)
    results: list[Any] = list(test()[1]["BLEU"])
    significant = [
        texts != outputs[0] and result.p_value < P  # of equal texts the test has nothing to say
        for texts, result in zip(outputs[1:], results[1:], strict=True)
    ]
    return [each.score for each in results], significant


HeadScores = dict[str, dict[Edit, tuple[float, bool]]]
"""Scores of what is done ("off", "only") -> head -> BLEU, and whether it differs significantly."""


def markdown(name: str, file: str, n: int, base: float, scores: HeadScores) -> str:
    """The tables: a row a layer, a column a head."""
    parts = [
        f"# What a head is worth to BLEU: {name}\n",
        f"After Michel et al. (2019), made by `python -m transformer sweep {name} --bleu {n} "
        f"--data FILE` from the first {n} pairs of `{file}`: greedy decoding, sacrebleu's "
        f"defaults, BLEU {base:.2f} with all heads. A cell is BLEU less that; * differs "
        f"significantly (paired bootstrap of {N_SAMPLES} samples, p < {P}).\n",
    ]
    titles = {"off": "One head off (ablation)", "only": "Only one head in its layer"}
    for what, title in titles.items():
        parts += [f"## {title}\n", _sentence(scores[what], base)]
        for kind in dict.fromkeys(edit.place for edit in scores[what]):
            parts.append(_table(kind, scores[what], base))
    return "\n".join(parts)


def _sentence(scores: dict[Edit, tuple[float, bool]], base: float) -> str:
    differ = [score - base for score, is_significant in scores.values() if is_significant]
    worst = min(scores, key=lambda edit: scores[edit][0])
    lost = sum(change < 0 for change in differ)
    name = f"{KINDS[worst.place]} L{worst.layer} H{worst.head}"
    return (
        f"{len(differ)} of {len(scores)} change BLEU significantly, {lost} of them for the worse; "
        f"the worst is {name} with {_signed(scores[worst][0] - base)}.\n"
    )


def _table(kind: str, scores: dict[Edit, tuple[float, bool]], base: float) -> str:
    own = {(e.layer, e.head): value for e, value in scores.items() if e.place == kind}
    heads = sorted({head for _, head in own})
    lines = [
        f"| {KINDS[kind]} | " + " | ".join(f"H{head}" for head in heads) + " |",
        "| --- |" + " ---: |" * len(heads),
    ]
    for layer in sorted({layer for layer, _ in own}):
        cells = [_signed(own[layer, head][0] - base) + "*" * own[layer, head][1] for head in heads]
        lines.append(f"| L{layer} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _signed(number: float) -> str:
    text = f"{number:+.2f}".replace("-", "−")
    return text[1:] if float(text[1:]) == 0 else text


# Identity anchors: pieces that a translation copies, such as names, numbers and full stops.

N_PAIRS = 400
SET = "Tatoeba test"


def anchors(attention: Attention) -> list[tuple[int, int]]:
    """(row that writes it, column) of every piece that occurs once in each of the two texts.

    Special tokens are none; a piece is the same where its text is.
    """
    pieces = [token.piece for token in attention.produced or () if not token.special]
    read = [token.piece for token in attention.keys if not token.special]
    once = {piece for piece in pieces if pieces.count(piece) == read.count(piece) == 1}
    columns = {token.piece: column for column, token in enumerate(attention.keys)}
    rows = enumerate(attention.produced or ())
    return [(row, columns[token.piece]) for row, token in rows if token.piece in once]


def evaluate_anchors(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """The share of identity anchors at which a head's largest weight is, in percent, best head.

    Read at the row that writes the piece, over the first N_PAIRS pairs of the Tatoeba test with
    their own translation given; the head is chosen on them. Raises MissingData.
    """
    pairs = read_pairs(need(data, PAIRS, TESTS[SET]))[:N_PAIRS]
    n, right = 0, torch.zeros(0)
    for source, target, *_ in tqdm(pairs, desc="Identity anchors", unit="sentence"):
        attention = record(checkpoint, source, target).attentions["cross"]
        result = anchors(attention)
        if not result:
            continue
        hits = _hits(attention, result)
        n, right = n + len(result), hits if not n else right + hits
    scores: Scores = {f"Identity anchors, {SET}, number": n}
    if n:
        layer, head = divmod(int(right.argmax()), right.size(1))
        name = f"Identity anchors, {SET}, best head (L{layer} H{head}), share found"
        scores[name] = 100 * float(right[layer, head]) / n
    return scores


def _hits(attention: Attention, places: list[tuple[int, int]]) -> torch.Tensor:
    """Count the anchors that each head finds: [L, H]."""
    rows, columns = (torch.tensor(side) for side in zip(*places, strict=True))
    layers = range(attention.n_layers)
    largest = torch.stack([attention.weights(layer)[:, rows].argmax(-1) for layer in layers])
    return (largest == columns).sum(-1)
