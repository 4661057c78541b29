"""Vocabularies beside weights: every kind of tokenizer's file that is read, damaged."""

import json
import pickle
from pathlib import Path
from random import Random

from tests.conftest import SENTENCES
from tests.fuzz.checkpoints import emptied
from tests.fuzz.damage import STRANGE, damaged_bytes, no_file, strange_json
from tests.fuzz.kind import Attempt, Kind
from transformer.files.weights import Weights
from transformer.formats.mappings.generators import NANO_GPT_MAPPING
from transformer.formats.vocabulary_files import find_vocabulary, make_tokenizer
from transformer.tokenizer import CharacterTokenizer, SentencePieceTokenizer, load_tokenizer

PIECES = ["<pad>", "<s>", "</s>", "<unk>", *"abc", "the", "cat"]
IDS = {piece: id for id, piece in enumerate(PIECES)}


def start(folder: Path) -> Attempt:
    model = SentencePieceTokenizer.train(SENTENCES, 300)
    model.save(folder)
    sentencepiece = (folder / model.file_name).read_bytes()
    bpe = {"type": "BPE", "vocab": IDS, "merges": [["a", "b"]], "unk_token": "<unk>"}
    library = {"version": "1.0", "model": bpe, "added_tokens": [], "pre_tokenizer": None}
    library |= {"normalizer": None, "post_processor": None, "decoder": None}
    files: dict[str, bytes] = {
        "tokenizer.model": sentencepiece,
        "vocab.spm": sentencepiece,
        "characters.txt": CharacterTokenizer.train("the cat sat").characters.encode(),
        "vocab.txt": "\n".join(PIECES).encode(),
        "vocab.json": json.dumps(IDS).encode(),
        "vocab.yml": "\n".join(f"{json.dumps(p)}: {i}" for p, i in IDS.items()).encode(),
        "merges.txt": b"#version: 0.2\na b\nab c\n",
        "meta.pkl": pickle.dumps({"vocab_size": 3, "stoi": {"a": 0, "b": 1, "c": 2}}),
        "tokenizer.json": json.dumps(library).encode(),
    }

    def attempt(random: Random) -> None:
        place = emptied(folder / "tried")
        names = [*random.choice(([], ["merges.txt"])), random.choice(list(files))]
        for name in names:
            (place / name).write_bytes(_damaged(random, name, files[name]))
        if random.random() < 0.05:
            no_file(random, place / names[-1])
        if names[-1] in ("tokenizer.model", "characters.txt"):
            kind = {"tokenizer.model": "sentencepiece"}.get(names[-1], "characters")
            tokenizer = load_tokenizer(kind, place, random.choice((300, 9)))
        else:
            vocabulary = find_vocabulary(place, Weights({}), NANO_GPT_MAPPING)
            vocabulary.special_ids(("pad_id", "bos_id", "eos_id"))
            size = random.choice((len(PIECES), 3, 300))
            tokenizer = make_tokenizer(
                vocabulary, NANO_GPT_MAPPING, dict.fromkeys(("source", "target"), size), 0, 1
            )
        ids = tokenizer.encode("the cat", "source")
        tokenizer.decode(ids)
        [tokenizer.token(id) for id in ids]

    return attempt


def _damaged(random: Random, name: str, content: bytes) -> bytes:
    chosen = random.random()
    if chosen < 0.5 and name.endswith(".json"):
        return strange_json(random, content.decode()).encode("utf-8", "replace")
    if chosen < 0.4 and name == "meta.pkl":
        values = {"stoi": random.choice((random.choice(STRANGE), {"a": random.choice(STRANGE)}))}
        return pickle.dumps(values, random.randrange(5))
    return damaged_bytes(random, content) if chosen < 0.95 else content


KIND = Kind("vocabularies", start, n=2000)
