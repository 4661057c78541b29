"""BLEU with each head off, and with only one head in a layer (Michel et al. 2019, tables 1, 2).

All of these models translate a sentence at once, a row of a batch each, by greedy decoding.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from transformer.analysis.rewriting import rewrite_with
from transformer.analysis.sweep import heads_off
from transformer.checkpoint import Checkpoint
from transformer.edits.edit import Edit
from transformer.extras import require
from transformer.files.whole_file import write_whole
from transformer.inputs import InputError
from transformer.training.evaluation.say import say
from transformer.training.translation import read_pairs

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


Scores = dict[str, dict[Edit, tuple[float, bool]]]
"""Scores of what is done ("off", "only") -> head -> BLEU, and whether it differs significantly."""


def markdown(name: str, file: str, n: int, base: float, scores: Scores) -> str:
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
