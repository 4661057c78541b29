"""Another word in the place of a written one, as values for JSON and as lines for a shell."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from transformer.causes.contrast import Contrast

MOST = 5
"""Words of each side that lines name."""


def contrast_values(result: Contrast) -> dict[str, Any]:
    """Name -> value of everything, as JSON has them; costs are in nats."""
    return {
        "place": result.place.word,
        "word": result.written,
        "other": result.other,
        "log_prob": result.log_prob,
        "log_prob_word": result.log_prob_written,
        "pieces": [
            {"piece": it.token.piece, "log_prob": it.log_prob, "rank": it.rank}
            for it in result.pieces
        ],
        "source": _side(result.source_words, result.hidden, result.of_source),
        "prefix": _side(result.prefix_words, result.prefix, result.of_prefix),
    }


def _side(words: Sequence[str], costs: Tensor, contrast: Tensor) -> list[dict[str, Any]]:
    columns = zip(words, *costs.tolist(), contrast.tolist(), strict=True)
    names = ("word", "to_word", "to_other", "contrast")
    return [dict(zip(names, each, strict=True)) for each in columns]


def contrast_lines(result: Contrast) -> list[str]:
    """Log-probability and ranks, and the words that speak most for either."""
    log_prob, ranks = f"log-probability {result.log_prob:.2f} nats", f"rank {result.ranks[0]:,}"
    if len(result.pieces) > 1:
        each = ", ".join(f"{it.token.piece} {it.rank:,}" for it in result.pieces)
        log_prob += f", of its {len(result.pieces)} pieces together"
        ranks = f"rank of each piece: {each}"
    return [
        f"“{result.other}”: {log_prob} ({ranks}); "
        f"“{result.written}”, which is written: {result.log_prob_written:.2f} nats.",
        *_speaks("the text", result.source_words, result.of_source, result),
        *_speaks("what is written before", result.prefix_words, result.of_prefix, result),
    ]


def _speaks(side: str, words: Sequence[str], contrast: Tensor, result: Contrast) -> list[str]:
    pairs = list(zip(words, contrast.tolist(), strict=True))
    lines = []
    for name, sign in ((result.written, 1), (result.other, -1)):
        most = sorted((it for it in pairs if it[1] * sign > 0), key=lambda it: -it[1] * sign)
        named = ", ".join(f"{word} {value:+.2f}" for word, value in most[:MOST])
        if named:
            lines.append(f"For “{name}” speaks, of {side}: {named} (nats).")
    return lines
