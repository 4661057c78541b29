"""Files that leave the app: a figure as HTML, weights as CSV or NPZ, steps and costs as CSV.

Pure functions that return bytes, or rows of them; nothing is written and nothing is sent. A picture
as PNG is what Plotly's own button gives.
"""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer.analysis.ablation import Sweep
from transformer.analysis.patching import Patching
from transformer.analysis.tables import Side, Sides, judged_at, patched_at, writing_at
from transformer.batch_masks import SentenceMasks
from transformer.complexity import LAYERS, LENGTHS, Measured, Sizes
from transformer.decoding import Decoding
from transformer.decoding.coverage import received
from transformer.edits import Edit
from transformer.files.foreign_text import csv_bytes
from transformer.recording import Attention, Recording
from transformer.token import Token
from viz.labels import escaped

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)
"""The page may run its own script and nothing else: what is shown stays on the reader's machine."""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>body {{ margin: 0; background: {background}; }}</style>
</head>
<body>
{body}
</body>
</html>
"""


def page_html(title: str, body: str, background: str, policy: str = POLICY) -> str:
    """A page that may reach no network. body: HTML; policy: what it may do."""
    own = {"title": escaped(title), "background": background, "policy": policy}
    return _PAGE.format(body=body, **own)


def inline(code: str) -> str:
    """Code that an element may hold: in its strings and comments "<\\/script" is "</script"."""
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def attention_csv(attention: Attention, layer: int, head: int) -> bytes:
    """Return one head, one line per cell, row by row, with all tokens and their words.

    query_piece is the token that was read, written_piece the one that was written then; empty where
    nothing is.
    """
    weights = attention.weights(layer, head).tolist()
    allowed = attention.allowed(layer, head).tolist()
    sides = Sides(attention)
    return rows_csv(
        [
            query | key | {"weight": f"{weights[i][j]:.9g}", "masked": int(not allowed[i][j])}
            for i, query in enumerate(sides.queries)
            for j, key in enumerate(sides.keys)
        ]
    )


def masks_csv(batch: Sequence[SentenceMasks]) -> bytes:
    """The masks of a padded batch, one line per cell; sentences and positions are counted from 0.

    padding and subsequent are 1 where that mask forbids the cell, allowed is 1 where neither does.
    """
    return rows_csv(
        [
            {"sentence": b}
            | query
            | key
            | dict(zip(("padding", "subsequent", "allowed"), cells[i][j], strict=True))
            for b, masks in enumerate(batch)
            for cells in [_mask_cells(masks)]
            for i, query in enumerate(Side("query", masks.queries).all)
            for j, key in enumerate(Side("key", masks.keys).all)
        ]
    )


def _mask_cells(masks: SentenceMasks) -> list[list[list[int]]]:
    """[Q][K][3]: forbidden by padding, forbidden by the subsequent mask, allowed."""
    none = torch.ones_like(masks.padding)
    subsequent = none if masks.subsequent is None else masks.subsequent
    cells: list[list[list[int]]] = (
        torch.stack([~masks.padding, ~subsequent, masks.combined], -1).int().tolist()
    )
    return cells


def coverage_csv(recording: Recording, layer: int) -> bytes:
    """Return what each source token has received after each step, a line a step and token.

    received is the sum of the cross-attention of all steps so far, in the mean of its heads.
    """
    attention, n = recording.attentions["cross"], len(recording.target)
    sums = received(attention.weights(layer).mean(0)[-n:]).tolist()
    sides = Sides(attention)
    return rows_csv(
        [
            {"step": t, **query, **key, "received": f"{sums[t][s]:.9g}"}
            for t, query in enumerate(sides.queries[-n:])
            for s, key in enumerate(sides.keys)
        ]
    )


def vectors_csv(recordings: Mapping[str, Recording]) -> bytes:
    """The texts' vectors, a line a dimension and a column a text. Each recording has one."""
    vectors = [each.vector.values.tolist() for each in recordings.values() if each.vector]
    rows = ((i, *(f"{x:.9g}" for x in row)) for i, row in enumerate(zip(*vectors, strict=True)))
    return csv_bytes(("dimension", *recordings), rows)


def recording_npz(recording: Recording) -> bytes:
    """Every attention as an array `<kind>` [L, H, Q, K] in float32, and `tokens`, a JSON text.

    tokens: source, target, and for each kind queries, keys and produced; a token has an id, a
    piece, and special. Read it with numpy.load(file); no pickle is in it.
    """
    arrays = {
        kind: torch.stack([attention.weights(layer) for layer in range(attention.n_layers)]).numpy()
        for kind, attention in recording.attentions.items()
    }
    file = io.BytesIO()
    np.savez_compressed(
        file, allow_pickle=False, tokens=np.array(_tokens_json(recording)), **arrays
    )
    return file.getvalue()


def decoding_csv(decoding: Decoding, recording: Recording) -> bytes:
    """The steps of a decoding, a line a candidate, the most probable first.

    The query is the token that was read at this step. rest is the probability of all tokens that
    are not listed; entropy is in bits. The chosen token need not be among the candidates of a step.
    candidate_prob_after is the probability after the rules that the checkpoint has for writing;
    empty: it has none. recording: of this decoding.
    """
    origins = writing_at(recording, decoding.target)
    return rows_csv(
        [
            {
                "step": t,
                **origin,
                "chosen_id": step.chosen.token.id,
                "chosen_piece": step.chosen.token.piece,
                "chosen_prob": f"{step.chosen.prob:.9g}",
                "entropy_bits": f"{step.entropy:.9g}",
                "rest": f"{step.rest:.9g}",
                "rank": rank,
                "candidate_id": candidate.token.id,
                "candidate_piece": candidate.token.piece,
                "candidate_prob": f"{candidate.prob:.9g}",
                "candidate_prob_after": "" if candidate.after is None else f"{candidate.after:.9g}",
            }
            for t, (step, origin) in enumerate(zip(decoding.steps, origins, strict=False))
            for rank, candidate in enumerate(step.candidates, start=1)
        ]
    )


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows of named values; one that lacks a name leaves its cell empty. Numbers are exact."""
    header = list(dict.fromkeys(name for row in rows for name in row))
    return csv_bytes(header, ([row.get(name, "") for name in header] for row in rows))


def costs_csv(sizes: Sizes, n: int, measured: Measured | None) -> bytes:
    """Table 1 as numbers, one line per layer and length: the measured lengths and n.

    Operations and steps are the terms inside O(...); measured_ms is empty where nothing was timed.
    """
    header = ("layer", "n", "d", "k", "r", "operations", "sequential_steps", "longest_path_steps")
    return csv_bytes(
        (*header, "measured_ms", "runs", "device", "threads"),
        (
            (
                *(layer.name, length, sizes.d, sizes.k, sizes.r),
                layer.operations.value(length, sizes),
                layer.sequential.value(length, sizes),
                layer.longest_path.value(length, sizes),
                *_time_cells(measured, layer.name, length),
            )
            for layer in LAYERS
            for length in sorted({n, *LENGTHS})
        ),
    )


def _time_cells(measured: Measured | None, name: str, n: int) -> tuple[str | int, ...]:
    timing = measured and measured.at(name, n)
    if not (measured and timing):
        return ("", "", "", "")
    return (f"{timing.ms:.6g}", timing.runs, measured.device, measured.threads)


def _tokens_json(recording: Recording) -> str:
    tokens: dict[str, Any] = {
        "source": _plain(recording.source),
        "target": _plain(recording.target),
    }
    for kind, attention in recording.attentions.items():
        tokens[kind] = {"queries": _plain(attention.queries), "keys": _plain(attention.keys)}
        if attention.produced is not None:
            tokens[kind]["produced"] = _plain(attention.produced)
    return json.dumps(tokens, ensure_ascii=False)


def _plain(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    return [{"id": t.id, "piece": t.piece, "special": t.special} for t in tokens]


# The results of studies as rows: what a page offers as CSV.


def sweep_rows(
    sweep: Sweep, recording: Recording, outputs: Mapping[Edit, str]
) -> list[dict[str, str]]:
    """A sweep, one row per head and token, in nats; of a classifier per head and class.

    query_position is where a token was written, as in the file of a head. log_prob is without the
    edit, change what the edit adds to it; of a text's vector minus the angle of its turn, in
    degrees, or of its cosine with a second one. recording: of the same text and output, without
    edits; outputs: the output with each edit, as far as it is known.
    """
    origins = judged_at(sweep.output, recording)
    plain = sweep.log_probs.tolist()
    return [
        {"edit": str(edit)}
        | origin
        | {"log_prob": f"{log_prob:.9g}", "change": f"{change:.9g}"}
        | {"written": outputs.get(edit, "")}
        for edit, changes in zip(sweep.edits, sweep.changes.tolist(), strict=True)
        for origin, log_prob, change in zip(origins, plain, changes, strict=True)
    ]


def patch_rows(patches: Patching) -> list[dict[str, Any]]:
    """Every patch that was tried, with its effect: of a head, or of the state at a token."""
    origins = {kind: patched_at(patches, kind) for kind in patches.places}

    def where(patch: Edit) -> Mapping[str, Any]:
        is_head = patch.name == "head-from"
        return {"head": patch.head} if is_head else origins[patch.place][patch.query]

    return [
        {"edit": patch.name, "kind": patch.place, "layer": patch.layer}
        | {**where(patch), "effect": effect}
        for patch, effect in patches.effects.items()
    ]


def divergence_rows(divergences: Mapping[str, Tensor]) -> list[dict[str, Any]]:
    """Return how far each head differs between two runs, in bits. divergences: kind -> [L, H]."""
    return [
        {"kind": kind, "layer": layer, "head": head, "bits": value}
        for kind, bits in divergences.items()
        for layer, values in enumerate(bits.tolist())
        for head, value in enumerate(values)
    ]
