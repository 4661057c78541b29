"""All that Python says of arrays that a reader drops, whatever they are: pictures and refusals."""

from dataclasses import replace
from typing import Any

import torch

from transformer import Recording, from_weights
from transformer.files.regular_file import DAMAGED
from transformer.files.torch_file import NOT_WHOLE, OBJECTS
from transformer.files.weights_file import ARRAYS, MOST_PARTS, NO_NUMBERS, UNPACKS
from transformer.formats.bare_arrays import FAMILY, LOOK, MOST_SHOWN, NO_ATTENTION, NOT_TAKEN, TITLE
from transformer.recording import arrays, layers, opening
from transformer.recording.packing import FORMAT, HEADER
from transformer.token import UNKNOWN
from transformer.watch.kinds.attention import SPECIAL
from transformer.watch.kinds.kind import ROLES, ROUGH, SUMS
from viz.components.token_rows.token_rows import TITLES
from viz.labels import kind_title
from viz.live.tables import changes, kind_tables

MOST = 64 << 20
"""Bytes of a file that the page opens, whose reader has it already: nothing is sent."""
MOST_UNPACKED = 256 << 20
"""Bytes that it unpacks to, which the tab has to hold."""
NOT_READ = "{name} holds {what}, which this page does not read: the app opens it."
WIDER = {"encoder_self", "decoder_self"}
"""Kinds whose keys may be their queries, or more than these."""


def arrays_tables() -> dict[str, Any]:
    """Return it as JSON values."""
    return {
        "kinds": {kind: _kind(kind) for kind in ROLES},
        "token_rows": {"titles": TITLES[FAMILY.reads]},
        "says": {
            "endings": ARRAYS,
            "most": MOST,
            "most_unpacked": MOST_UNPACKED,
            "most_parts": MOST_PARTS,
            "most_shown": MOST_SHOWN,
            "roles": ROLES,
            "names": arrays.OURS.pattern,
            "header": HEADER,
            "format": FORMAT,
            "special": SPECIAL.pattern,
            "unknown": UNKNOWN,
            "rough": ROUGH,
            "axes": layers.AXES["weights"],
            **_sentences(),
        },
    }


def _sentences() -> dict[str, str]:
    return {
        "title": TITLE,
        "look": LOOK,
        "not_read": NOT_READ,
        "not_taken": NOT_TAKEN,
        "not_whole": NOT_WHOLE.format(why=DAMAGED),
        "objects": OBJECTS,
        "unpacks": UNPACKS,
        "no_numbers": NO_NUMBERS,
        "no_attention": NO_ATTENTION,
        "other_format": opening.OTHER_FORMAT,
        "not_whole_recording": opening.NOT_WHOLE,
        "kind": arrays.KIND,
        "no_kind": arrays.NO_KIND,
        "not_a_kind": arrays.NOT_A_KIND,
        "twice": arrays.TWICE,
        "missing": arrays.MISSING,
        "batch": layers.BATCH,
        "batch_of_layer": layers.BATCH_OF_LAYER,
        "other_axes": layers.OTHER_AXES,
        "other_axes_of_layer": layers.OTHER_AXES_OF_LAYER,
        "unlike": layers.UNLIKE,
        "nothing": layers.NOTHING,
        "lost": layers.LOST,
        "below": arrays.BELOW,
        "other_tokens": arrays.OTHER_TOKENS,
        "one_row": arrays.ONE_ROW,
        "sums": SUMS,
        "sums_why": arrays.GIVEN_SO,
    }


def _kind(kind: str) -> dict[str, Any]:
    """The headers of it, and how they differ where keys are other tokens, or where rows wrote."""
    plain = _example(kind, kind not in WIDER)
    other = _example(kind, is_wider=True)
    attention = other.attentions[kind]
    wrote = replace(other, attentions={kind: replace(attention, produced=attention.queries)})
    tables = kind_tables(plain, kind)
    headers = tables["headers"]
    return tables | {
        "title": kind_title(kind),
        "other": changes(headers, kind_tables(other, kind)["headers"]),
        "produced": changes(headers, kind_tables(wrote, kind)["headers"]),
    }


def _example(kind: str, is_wider: bool) -> Recording:
    """A recording of one head that looks at everything alike."""
    return from_weights({kind: torch.full((1, 1, 2, 2 + is_wider), 1 / (2 + is_wider))})
