"""A model that reads one vocabulary and writes another: each side has the names of its own."""

import io
import json
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import sentencepiece
import torch

from tests.transformer.hugging_face.saving import MARIAN, generated, save, save_tokenizer, writer
from transformer import (
    CheckpointError,
    InputError,
    decode,
    evidence,
    load_checkpoint,
    record,
    survey,
)
from transformer.vocabulary import PairTokenizer

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses:UserWarning")
READ, WRITTEN = "the cat sat on mat dog ran home", "die katze lief auf matte hund lag heim"
TEXT, TARGET = "the cat sat", "die katze"


def pieces_of(words: str, folder: Path, name: str) -> list[str]:
    """Train a sentencepiece model of these words: its pieces in an order of their own."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([words] * 20),
        model_writer=model,
        vocab_size=60,
        model_type="bpe",
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (folder / f"{name}.spm").write_bytes(model.getvalue())
    its = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return ["</s>", "<unk>", *map(its.id_to_piece, range(3, its.vocab_size())), "<pad>"]


def save_marian(folder: Path, *of: str) -> Any:
    """A translator of two vocabularies of different sizes; its end and its start differ, too."""
    both = [
        pieces_of(words, folder, name) for words, name in zip(of, ("source", "target"), strict=True)
    ]
    for name, pieces in zip(("vocab.json", "target_vocab.json"), both, strict=True):
        (folder / name).write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
    settings = {"tokenizer_class": "MarianTokenizer", "separate_vocabs": True}
    names = {"unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | names))
    sizes = {"vocab_size": len(both[0]), "decoder_vocab_size": len(both[1]), "eos_token_id": 0}
    model = writer(
        "Marian",
        **{**sizes, "share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
        **{"pad_token_id": min(map(len, both)) - 1, "decoder_start_token_id": len(both[1]) - 1},
    )
    model.save_pretrained(folder)
    return model


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marian")
    save_marian(folder, READ, WRITTEN)
    return folder


def pieces(tokens: Any) -> list[str]:
    return [token.piece for token in tokens]


@pytest.mark.parametrize("is_saved_again", [False, True])
@pytest.mark.parametrize("of", [(READ, WRITTEN), (WRITTEN, READ)], ids=["more", "fewer"])
def test_both_sides_are_named_as_the_library_reads_them(
    of: tuple[str, str], is_saved_again: bool, tmp_path: Path
) -> None:
    """Of what it saves, special tokens stand with the ids of the source alone."""
    from transformers import MarianTokenizer

    model = save_marian(tmp_path, *of)
    theirs: Any = MarianTokenizer.from_pretrained(tmp_path)
    if is_saved_again:
        theirs.save_pretrained(tmp_path)
    text, target = (" ".join(words.split()[:3]) for words in of)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    names = [json.loads((tmp_path / it).read_text()) for it in ("vocab.json", "target_vocab.json")]
    read, written = ({id: piece for piece, id in each.items()} for each in names)
    recording = record(checkpoint, text, target)
    assert pieces(recording.source) == [read[id] for id in theirs(text)["input_ids"]]
    assert pieces(recording.target) == [written[id] for id in theirs(text_target=target).input_ids]
    assert recording.attentions["cross"].queries[0].piece == "<pad>"
    assert recording.attentions["cross"].queries[0].special
    assert all(checkpoint.tokenizer.token(id).piece == written[id] for id in written)
    decoding = decode(checkpoint, text, max_len=5)
    assert [token.id for token in decoding.target] == generated(model, theirs(text).input_ids, 5)
    assert decoding.text == checkpoint.tokenizer.decode([token.id for token in decoding.target])
    assert not checkpoint.about.notes


def test_whatever_names_words_names_those_of_its_side(marian: Path) -> None:
    checkpoint = load_checkpoint(marian, "cpu")
    proof = evidence(checkpoint, TEXT, TARGET)
    assert proof.source_words[:3] == tuple(TEXT.split())
    assert proof.target_words[:2] == tuple(TARGET.split())
    begun = decode(checkpoint, TEXT, prefix=TARGET, max_len=6)
    assert pieces(begun.target)[:2] == ["▁die", "▁katze"]
    forced = decode(checkpoint, TEXT, method="beam", force=("hund",), max_len=12)
    assert "hund" in forced.text.split()
    own = {checkpoint.tokenizer.token(id).piece for id in range(checkpoint.config.vocab_size)}
    assert all(it.token.piece in own for step in begun.steps for it in step.candidates)
    assert survey(checkpoint, [TEXT, "dog ran home"]).n_sentences == 2


def test_rules_of_writing_are_of_the_target(marian: Path, tmp_path: Path) -> None:
    model = save_marian(tmp_path, READ, WRITTEN)
    last = model.config.decoder_vocab_size - 1
    source = load_checkpoint(tmp_path, "cpu").tokenizer.encode(TEXT)
    usual = generated(model, source, 4)
    model.generation_config.bad_words_ids = [[last], [usual[0]]]
    model.generation_config.save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    written = [token.id for token in decode(checkpoint, TEXT, max_len=4).target]
    assert written == generated(model, source, 4) != usual and not checkpoint.about.notes


def test_a_target_without_its_file_is_named(tmp_path: Path) -> None:
    save_marian(tmp_path, READ, WRITTEN)
    (tmp_path / "target_vocab.json").unlink()
    with pytest.raises(CheckpointError, match=r"target_vocab\.json is missing"):
        load_checkpoint(tmp_path, "cpu")


def test_without_a_vocabulary_each_side_has_its_own_ids(tmp_path: Path) -> None:
    model = save_marian(tmp_path, READ, WRITTEN)
    for file in (*tmp_path.glob("*.spm"), *tmp_path.glob("*vocab*"), *tmp_path.glob("token*")):
        file.unlink()
    checkpoint = load_checkpoint(tmp_path, "cpu")
    n_read, n_written = model.config.vocab_size, model.config.decoder_vocab_size
    assert record(checkpoint, "4 5", f"{n_written - 1} 3").target[0].id == n_written - 1
    with pytest.raises(InputError, match=f"0 to {n_read - 1}"):
        record(checkpoint, str(n_read), "3")


@pytest.mark.parametrize("fits", ["source", "target"])
def test_one_tokenizer_is_of_the_side_that_has_as_many_pieces(fits: str, tmp_path: Path) -> None:
    """As in a model of BERT and GPT-2, whose folder has the tokenizer of one of them."""
    other = "decoder_vocab_size" if fits == "source" else "vocab_size"
    sizes = {"decoder_vocab_size": 64, "vocab_size": 64} | {other: 48}
    model = writer("Marian", **sizes, share_encoder_decoder_embeddings=False)
    checkpoint = load_checkpoint(save(model, tmp_path), "cpu")
    assert isinstance(checkpoint.tokenizer, PairTokenizer)
    words = ("the cat", "4 5") if fits == "source" else ("4 5", "the cat")
    recording = record(checkpoint, *words)
    named = {"source": recording.source, "target": recording.target}
    assert pieces(named.pop(fits))[:2] == ["the", "cat"]
    assert pieces(next(iter(named.values())))[:2] == ["4", "5"]
    assert any("ids of tokens" in note for note in checkpoint.about.notes)


class Moses:
    """Stands for the classes of sacremoses: words are split at their spaces."""

    def __init__(self, lang: str = "") -> None:
        self.lang = lang

    def normalize(self, text: str) -> str:
        return text

    def tokenize(self, text: str, **options: Any) -> list[str]:
        return [f"{word}-{self.lang}" for word in text.split()]

    def detokenize(self, words: list[str]) -> str:
        return " ".join(words)


def save_fsmt(folder: Path) -> None:
    from transformers import FSMTConfig, FSMTForConditionalGeneration

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    sides = [
        [*special, *(f"{word}-{lang}</w>" for word in words.split())]
        for lang, words in (("en", READ), ("de", f"{WRITTEN} sehr"))
    ]
    merges = []
    for piece in (word for side in sides for word in side[len(special) :]):
        parts = [*piece[:-5], f"{piece[-5]}</w>"]
        merges += [f"{''.join(parts[:i])} {parts[i]}" for i in range(1, len(parts))]
    for name, side in zip(("src", "tgt"), sides, strict=True):
        ids = {piece: i for i, piece in enumerate(side)}
        (folder / f"vocab-{name}.json").write_text(json.dumps(ids))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
    settings = {"tokenizer_class": "FSMTTokenizer", "langs": ["en", "de"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    torch.manual_seed(0)
    config = FSMTConfig(
        langs=["en", "de"],
        src_vocab_size=len(sides[0]),
        tgt_vocab_size=len(sides[1]),
        **{name: MARIAN[name] for name in MARIAN if name.endswith(("layers", "heads", "ffn_dim"))},
        d_model=32,
        max_position_embeddings=40,
        init_std=0.5,
    )
    FSMTForConditionalGeneration(config).save_pretrained(folder)


def test_fairseqs_translator_has_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library gives a target the ids of the source's vocabulary, and splits it as a source."""
    moses: Any = ModuleType("sacremoses")
    moses.__spec__ = ModuleSpec("sacremoses", None)
    moses.MosesPunctNormalizer = moses.MosesTokenizer = moses.MosesDetokenizer = Moses
    monkeypatch.setitem(sys.modules, "sacremoses", moses)
    save_fsmt(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    recording = record(checkpoint, TEXT, TARGET)
    assert pieces(recording.source) == ["the-en</w>", "cat-en</w>", "sat-en</w>", "</s>"]
    assert pieces(recording.target) == ["die-de</w>", "katze-de</w>", "</s>"]


def test_without_its_package_its_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformer.vocabulary.find_spec", lambda name: None)
    save_fsmt(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert any("vocab-src.json" in n and "sacremoses" in n for n in checkpoint.about.notes)
    assert pieces(record(checkpoint, "4 5", "6").source) == ["4", "5"]


def test_one_vocabulary_stays_one(tmp_path: Path) -> None:
    model = writer("Marian")
    model.save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    assert not isinstance(load_checkpoint(tmp_path, "cpu").tokenizer, PairTokenizer)
