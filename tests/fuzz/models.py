"""Answers of models elsewhere: frames, drafts and decodings that lie."""

import struct
from io import BytesIO
from pathlib import Path
from random import Random

from tests.fuzz.damage import damaged_bytes, strange_json
from tests.fuzz.kind import Attempt, Kind
from transformer import decode, load_checkpoint, record
from viz.run.models.elsewhere import ANSWER, frame, frames, packed, unpacked
from viz.run.models.place import Outcome

MARK = "0" * 64


def start(folder: Path) -> Attempt:
    checkpoint = load_checkpoint("checkpoints/copy", "cpu")
    decoding = decode(checkpoint, "3 7 2", "beam", beam_size=2).without_distributions()
    recording = record(checkpoint, "3 7 2", decoding.target)
    content = packed(Outcome(decoding, recording), checkpoint, MARK)
    (length,) = struct.unpack_from("<I", content)
    text, rest = content[4 : 4 + length].decode(), content[4 + length :]

    def attempt(random: Random) -> None:
        if random.random() < 0.3:
            stream = BytesIO(damaged_bytes(random, frame(ANSWER, content)))
        else:
            data = strange_json(random, text).encode("utf-8", "replace")
            stream = BytesIO(frame(ANSWER, struct.pack("<I", len(data)) + data + rest))
        for _, body in frames(stream.read):
            again, _, _ = unpacked(body, checkpoint, MARK)
            if again is not None:
                assert all(0 <= id < checkpoint.config.vocab_size for id in again.hypotheses[0].ids)
                assert again.search.path_log_probs and again.search.living

    return attempt


KIND = Kind("models", start, n=4000)
