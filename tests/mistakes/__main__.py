"""python -m tests.mistakes: what is known of each mistake, searched anew; --renew writes it down.

Minutes: each mistake has its repairs searched. What is written is docs/mistakes.md, and the results
that a test compares with.
"""

import argparse
import json
from math import exp
from pathlib import Path
from typing import Any

import torch

from tests.mistakes.mistakes import CHECKPOINT, DOCUMENT, METHOD, MISTAKES, RESULTS, Mistake
from transformer import Checkpoint, decode, evidence, load_checkpoint
from transformer.causes import contrast, repairs
from transformer.causes.contrast import contrast_values, word_number
from transformer.causes.pruning import pruning, pruning_values
from transformer.causes.repairs import repairs_values
from transformer.fingerprint import fingerprint

N_REPAIRS = 3
HEAD = """# Mistakes

Real mistakes of `checkpoints/en-de-1` by beam search: what the card of the wrong word says, how
likely the right word is there, where the search left it, which words speak most for either (the
contrast, in nats), and the cheapest repairs. What the numbers mean: [Evidence](evidence.md).
`python -m tests.mistakes --renew` writes this page, and a test holds it to the weights, whose
fingerprint is `{weights}`.

Each repair was decoded: by beam search, or by the method that it names. *No repair* means none of
what was tried. Rows can often be forced until the word is written. That says what the decoder could
write, not what it should: “auf der Ufer” is not German. In most of these the card says *agrees*:
the word looks at what it needs, and is wrong."""


def result_of(checkpoint: Checkpoint, mistake: Mistake) -> dict[str, Any]:
    """Name -> value of all that is known of a mistake."""
    known = known_at_once(checkpoint, mistake)
    target = decode(checkpoint, mistake.text, METHOD).target
    found = repairs(checkpoint, mistake.text, target, known["place"], mistake.right, METHOD)
    values = repairs_values(found)
    values["repairs"] = values["repairs"][:N_REPAIRS]
    return known | {"repairs": values}


def known_at_once(checkpoint: Checkpoint, mistake: Mistake) -> dict[str, Any]:
    """The same without the repairs, whose search takes long."""
    decoding = decode(checkpoint, mistake.text, METHOD)
    word = word_number(decoding.target, mistake.written)
    whole = evidence(checkpoint, mistake.text, decoding.target)
    compared = contrast(
        checkpoint, mistake.text, decoding.target, word, mistake.right, evidence_at_hand=whole
    )
    return {
        "title": mistake.title,
        "text": mistake.text,
        "written": decoding.text,
        "greedy": decode(checkpoint, mistake.text).text,
        "verdict": whole.verdicts[word].text,
        "kind": whole.verdicts[word].kind,
        "needs": whole.verdicts[word].needs,
        **contrast_values(compared),
        "search": pruning_values(pruning(decoding.search, compared.place, compared.pieces)),
    }


def document(results: list[dict[str, Any]], weights: str) -> str:
    """Write down all results."""
    lines = [HEAD.format(weights=weights)]
    for number, each in enumerate(results, 1):
        lines += ["", *_section(number, each)]
    return "\n".join(lines) + "\n"


def _section(number: int, each: dict[str, Any]) -> list[str]:
    p, (first, *more) = exp(each["log_prob"]), each["pieces"]
    rank = f"`{first['piece']}` has rank {first['rank']:,}" if more else f"rank {first['rank']:,}"
    of_word = exp(each["log_prob_word"])
    lines = [
        f"## {number}. {each['title']}",
        "",
        f"> {each['text']}",
        "",
        f"* Beam search: {_marked(each['written'], each['word'])}",
        f"* Greedy: {each['greedy']}",
        f"* Card of “{each['word']}”, *{each['kind']}*: {each['verdict']}",
        f"* “{each['other']}” instead: {100 * p:.3g} %, {'its first piece ' * bool(more)}{rank}; "
        f"“{each['word']}” has {100 * of_word:.3g} %.",
    ]
    lines.append(f"* {each['search']['text']}")
    for side, name in (("source", "the text"), ("prefix", "what is written before")):
        lines.append(f"* Contrast, {name}: {_speaks(each, side)}")
    lines.append(f"* {each['repairs']['text']}")
    for it in each["repairs"]["repairs"]:
        lines.append(f"    * {_name(it)}, {round(it['cost'], 2) + 0.0:.2f} nats: {it['text']}")
    return lines


def _marked(text: str, word: str) -> str:
    return f"{text} (wrong: “{word}”)"


def _speaks(each: dict[str, Any], side: str) -> str:
    order = sorted(each[side], key=lambda it: it["contrast"])
    groups = ((each["word"], order[::-1]), (each["other"], order))
    parts = []
    for name, words in groups:
        sign = 1 if name == each["word"] else -1
        most = [it for it in words if sign * it["contrast"] >= 0.5][:2]
        named = ", ".join(f"`{it['word']}` ({abs(it['contrast']):.2f})" for it in most)
        parts.append(f"for “{name}” {named or 'none by 0.5 nats'}")
    return f"{'; '.join(parts)}."


def _name(repair: dict[str, Any]) -> str:
    if repair["method"]:
        return f"method `{repair['method']}`"
    if repair["kind"] == "rows":
        return f"{len(repair['edits'])} rows forced"
    return ", ".join(f"`{edit}`" for edit in repair["edits"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renew", action="store_true")
    renew = parser.parse_args().renew
    torch.set_num_threads(1)
    checkpoint, weights = load_checkpoint(CHECKPOINT, "cpu"), fingerprint(CHECKPOINT)
    results = []
    for mistake in MISTAKES:
        results.append(result_of(checkpoint, mistake))
        print("\n".join(_section(len(results), results[-1])), flush=True)
    if renew:
        text = json.dumps({"fingerprint": weights, "results": results}, indent=1)
        RESULTS.write_text(f"{text}\n", encoding="utf-8")
        Path(DOCUMENT).write_text(document(results, weights), encoding="utf-8")


if __name__ == "__main__":
    main()
