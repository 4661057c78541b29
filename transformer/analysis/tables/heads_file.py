"""Files about all heads, or one: every metric as CSV, and the words that a head links."""

import math

from transformer.analysis.alignment import word_links
from transformer.analysis.metrics.measure import measure, metrics_of
from transformer.files.csv_file import csv_bytes
from transformer.recording import Recording


def metrics_csv(recording: Recording) -> bytes:
    """Return every metric of every head, a line each; empty: no query of that head has one."""
    return csv_bytes(
        ("kind", "layer", "head", "metric", "unit", "value"),
        (
            (kind, attention.number(layer), head, name, metrics[name].unit, _exact(value))
            for kind, attention in recording.attentions.items()
            for metrics in [metrics_of(attention)]
            for layer in range(attention.n_layers)
            for name, values in measure(attention, layer).items()
            for head, value in enumerate(values.tolist())
        ),
    )


def _exact(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.9g}"


def alignment_text(recording: Recording, layer: int, head: int) -> bytes:
    """Return the words that one head of cross-attention links, as `0-0 1-2`, source first.

    The rule stands in the first line; words are those of `transformer.words.RULE`.
    """
    links = word_links(recording, layer, head)
    name = f"cross-attention, layer {recording.attentions['cross'].number(layer)}, head {head}"
    rule = (
        "each target word with the source word that it gives most, with none where special "
        "tokens together get more"
    )
    pairs = " ".join(f"{source}-{target}" for source, target in sorted(links))
    return f"# source-target, words and signs counted from 0; {name}; {rule}\n{pairs}\n".encode()
