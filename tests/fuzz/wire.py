"""Recordings as bytes: lengths, shapes, numbers of arrays and tokens that lie."""

import json
import struct
from pathlib import Path
from random import Random

from tests.fuzz.damage import damaged_bytes, strange_json
from tests.fuzz.kind import Attempt, Kind
from transformer import load_checkpoint, record
from transformer.recording.wire import MAGIC, from_bytes, to_bytes

MARK = "0" * 64


def start(folder: Path) -> Attempt:
    checkpoint = load_checkpoint("checkpoints/copy", "cpu")
    content = to_bytes(record(checkpoint, "3 7 2", "3 7 2"), checkpoint, MARK)
    begin = len(MAGIC) + 4
    (length,) = struct.unpack_from("<I", content, len(MAGIC))
    text, body = content[begin : begin + length].decode(), content[begin + length :]

    def attempt(random: Random) -> None:
        if random.random() < 0.2:
            changed = damaged_bytes(random, content)
        else:
            header = strange_json(random, text).encode("utf-8", "replace")
            changed = MAGIC + struct.pack("<I", len(header)) + header + body
        recording = from_bytes(changed, checkpoint, MARK)
        for attention in recording.attentions.values():
            for layer in range(attention.n_layers):
                attention.weights(layer)
        assert recording.checked is not None
        json.dumps([token.piece for token in recording.source])

    return attempt


KIND = Kind("wire", start, n=4000)
