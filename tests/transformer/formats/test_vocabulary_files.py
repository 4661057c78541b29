"""What lies beside a file of weights decides how its tokens are typed and shown."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from tests.conftest import SENTENCES
from tests.transformer.formats import codebases
from tests.transformer.formats.codebases import SOURCES, TARGETS
from transformer import CheckpointError, decode, load_checkpoint, record
from transformer.extras import NotInstalled
from transformer.inputs import InputError
from transformer.tokenizer import TokenizerError
from transformer.vocabulary import (
    Frame,
    PairTokenizer,
    SentencePieceVocabulary,
    VocabularyTokenizer,
    source_side,
)

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
SPECIAL = ["<unk>", "<pad>", "<bos>", "<eos>"]


def words(side: str, n: int) -> list[str]:
    return SPECIAL + [f"{side}{i}" for i in range(n - len(SPECIAL))]


def two_vocabularies(folder: Path) -> None:
    (folder / "vocab.source.txt").write_text("\n".join(words("in", SOURCES)) + "\n")
    (folder / "vocab.target.txt").write_text("\n".join(words("out", TARGETS)))


def test_two_vocabularies_of_two_sizes(tmp_path: Path) -> None:
    codebases.torch_transformer(tmp_path)
    two_vocabularies(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert (checkpoint.config.source_vocab_size, checkpoint.config.vocab_size) == (17, 23)
    decoding = decode(checkpoint, "in1 in12 never", max_len=4)
    read = ["<bos>", "in1", "in12", "<unk>", "<eos>"]
    assert [token.piece for token in decoding.source] == read
    assert all(token.piece in words("out", TARGETS) for token in decoding.target)
    recording = record(checkpoint, "in1 in12 never", "out3 out7")
    cross = recording.attentions["cross"]
    assert [token.piece for token in cross.keys] == read
    assert [token.piece for token in cross.queries] == ["<bos>", "out3", "out7"]
    assert [token.piece for token in cross.produced or ()] == ["out3", "out7", "<eos>"]
    assert [token.piece for token in recording.attentions["encoder_self"].queries] == read
    assert checkpoint.about.examples == ("in0 in1 in2 in3 in4 in5",)


def test_a_line_of_a_vocabulary_ends_with_a_line_feed_only(tmp_path: Path) -> None:
    """Pieces are learnt from any text: Unicode knows further ends of lines (Annex 14, class BK)."""
    codebases.torch_transformer(tmp_path)
    two_vocabularies(tmp_path)
    pieces = [piece.replace("in1", "in\u2028") for piece in words("in", SOURCES)]
    (tmp_path / "vocab.source.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    tokenizer = source_side(load_checkpoint(tmp_path, "cpu").tokenizer)
    assert [tokenizer.token(id).piece for id in range(SOURCES)] == pieces


def test_the_pieces_say_which_tokens_are_special(tmp_path: Path) -> None:
    """Older copies of The Annotated Transformer have torchtext's order: padding 1, start 2."""
    codebases.annotated(tmp_path)
    assert load_checkpoint(tmp_path, "cpu").config.bos_id == 0
    two_vocabularies(tmp_path)
    config = load_checkpoint(tmp_path, "cpu").config
    assert (config.pad_id, config.bos_id, config.eos_id) == (1, 2, 3)
    (tmp_path / "headscope.json").write_text('{"n_heads": 4, "bos_id": 5}')
    config = load_checkpoint(tmp_path, "cpu").config
    assert (config.n_heads, config.bos_id, config.eos_id) == (4, 5, 3)


def test_one_vocabulary_as_json(tmp_path: Path) -> None:
    codebases.jadore(tmp_path)
    ids = {piece: id for id, piece in enumerate(words("w", TARGETS))}
    (tmp_path / "vocab.json").write_text(json.dumps(dict(reversed(ids.items()))))
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert checkpoint.tokenizer.encode("w3 w0") == [2, 7, 4, 3]
    assert checkpoint.tokenizer.decode([2, 7, 4, 3]) == "w3 w0"
    assert source_side(checkpoint.tokenizer) is checkpoint.tokenizer


def test_the_vocabulary_inside_the_file(tmp_path: Path) -> None:
    codebases.open_nmt(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    source = source_side(checkpoint.tokenizer)
    assert source.encode("in2 in0") == [6, 4]  # OpenNMT-py frames no source
    assert checkpoint.tokenizer.encode("out2", "target") == [6, 3]
    assert checkpoint.tokenizer.token(1).special


def test_characters_of_nano_gpt(tmp_path: Path) -> None:
    codebases.nano_gpt(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    characters = sorted(set(codebases.CHARACTERS))
    assert checkpoint.tokenizer.encode("ROMEO:") == [characters.index(c) for c in "ROMEO:"]
    assert len(decode(checkpoint, "the ", max_len=3).text) == 3
    with pytest.raises(InputError, match=r"^This model has never seen the character “z”"):
        decode(checkpoint, "zebra")


def test_ids_where_there_is_no_vocabulary(tmp_path: Path) -> None:
    codebases.torch_transformer(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert checkpoint.about.tokenizer == "ids"
    assert checkpoint.about.examples == ("2 0 4 5 6 7 8 9 10 11 3",)
    assert checkpoint.tokenizer.encode("2 16 3") == [2, 16, 3]
    with pytest.raises(InputError, match=r"from 0 to 16; “17” is not one of them"):
        decode(checkpoint, "2 17 3")


def sentencepiece_model(**changes: Any) -> bytes:
    model = io.BytesIO()
    options = {"vocab_size": 40, "pad_id": -1, "bos_id": -1, "eos_id": 0, "unk_id": 1} | changes
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_writer=model, minloglevel=2, **options
    )
    return model.getvalue()


@pytest.mark.parametrize("changes", [{}, {"bos_id": 2}])
def test_marian_s_vocabulary(
    changes: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(codebases, "TARGETS", 40)
    codebases.marian_model(tmp_path)
    (tmp_path / "vocab.spm").write_bytes(sentencepiece_model(**changes))
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert (checkpoint.config.bos_id, checkpoint.config.eos_id) == (40, 0)
    ids = checkpoint.tokenizer.encode(SENTENCES[0])
    assert ids[-1] == 0 and checkpoint.tokenizer.decode(ids) == SENTENCES[0]
    assert checkpoint.tokenizer.token(40).special
    decoding = decode(checkpoint, SENTENCES[0], max_len=4)
    recording = record(checkpoint, SENTENCES[0], decoding.target)
    assert recording.attentions["cross"].queries[0].piece == "<s>"
    (tmp_path / "vocab.spm").write_bytes(b"\xff" * 9)
    with pytest.raises(
        CheckpointError, match=r": vocab\.spm is not a whole sentencepiece model\.$"
    ):
        load_checkpoint(tmp_path)


YAML = """# Marian writes one line a piece
</s>: 0
<unk>: 1
▁the: 2
"'": 3
'it''s': 4
"\\"": 5
":": 6
"#": 7
"a\\tb\\x41\\u00e9\\U0001F600": 8
n: 9
"""


def test_marian_s_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    codebases.marian_model(tmp_path)
    more = "\n".join(f"w{id}: {id}" for id in range(10, TARGETS))
    (tmp_path / "vocab.yml").write_text(YAML + more)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    pieces = [checkpoint.tokenizer.token(id).piece for id in range(10)]
    assert pieces[:8] == ["</s>", "<unk>", "▁the", "'", "it's", '"', ":", "#"]
    assert pieces[8:] == ["a\tbAé😀", "n"]
    assert checkpoint.tokenizer.encode("▁the w12 never") == [2, 12, 1, 0]
    assert checkpoint.tokenizer.token(TARGETS).piece == "<s>"
    ids = {f"w{id}": id for id in range(TARGETS)}  # older tools write JSON, which is YAML too
    (tmp_path / "vocab.yml").write_text(json.dumps(ids))
    assert load_checkpoint(tmp_path, "cpu").tokenizer.token(7).piece == "w7"


@pytest.mark.parametrize("line", ["- a", "a: b", "a: [1]", "x" * 2000, "? a", '"a: 3', "&x a: *x"])
def test_yaml_that_is_no_vocabulary(line: str, tmp_path: Path) -> None:
    codebases.jadore(tmp_path)
    (tmp_path / "vocab.yml").write_text(f"a: 0\n{line}\n")
    with pytest.raises(
        CheckpointError, match=r"vocab\.yml cannot be read: line [23] is not (YAML|a piece with)"
    ):
        load_checkpoint(tmp_path)


def test_marian_s_pieces_in_another_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OPUS-MT's files: sentencepiece splits each side, and vocab.yml says the ids."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(codebases, "TARGETS", 40)
    codebases.marian_model(tmp_path)
    model = sentencepiece_model()
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [processor.id_to_piece(id) for id in range(40)]
    turned = [*pieces[:2], *reversed(pieces[2:])]
    (tmp_path / "vocab.yml").write_text("".join(f'"{p}": {id}\n' for id, p in enumerate(turned)))
    for side in ("source", "target"):
        (tmp_path / f"{side}.spm").write_bytes(model)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    ids = checkpoint.tokenizer.encode(SENTENCES[0])
    split = processor.encode(SENTENCES[0], out_type=str)
    assert [checkpoint.tokenizer.token(id).piece for id in ids] == [*split, "</s>"]
    assert ids[:-1] == [turned.index(piece) for piece in split]
    assert checkpoint.tokenizer.decode(ids) == SENTENCES[0]
    assert checkpoint.about.examples
    (tmp_path / "made").mkdir()
    checkpoint.tokenizer.save(tmp_path / "made")
    assert (tmp_path / "made" / "tokenizer.model").read_bytes() == model
    (tmp_path / "source.spm").write_bytes(b"\xff" * 9)
    with pytest.raises(CheckpointError, match=r": source\.spm is not a whole sentencepiece model"):
        load_checkpoint(tmp_path)


@pytest.fixture
def bytes_of_gpt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A nanoGPT with room for 300 pieces, and a byte-level vocabulary of fewer beside it."""
    from tokenizers import ByteLevelBPETokenizer

    monkeypatch.setattr(codebases, "CHARACTERS", "".join(map(chr, range(300))))
    codebases.nano_gpt(tmp_path)
    (tmp_path / "meta.pkl").unlink()
    inner = ByteLevelBPETokenizer()
    inner.train_from_iterator(
        ["the cat sat on the mat"] * 3,
        vocab_size=290,
        show_progress=False,
        special_tokens=["<|endoftext|>"],
    )
    inner.save_model(str(tmp_path))
    inner.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_it_names_the_library_that_reads_it_where_that_is_missing(
    bytes_of_gpt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(NotInstalled, match=r"^transformers is not installed here: .*\[hf\]"):
        load_checkpoint(bytes_of_gpt, "cpu")


@pytest.mark.parametrize("without", [["tokenizer.json"], ["vocab.json", "merges.txt"]])
def test_gpt_2_s_vocabulary_beside_nano_gpt(bytes_of_gpt: Path, without: list[str]) -> None:
    for name in without:
        (bytes_of_gpt / name).unlink()
    checkpoint = load_checkpoint(bytes_of_gpt, "cpu")
    tokenizer = checkpoint.tokenizer
    ids = tokenizer.encode("the cat é", "prompt")
    assert [tokenizer.token(id).piece for id in ids] == ["the", "▁cat", "▁", "<0xC3>", "<0xA9>"]
    assert tokenizer.decode(ids) == "the cat é"
    assert tokenizer.token(0).special and tokenizer.token(299).piece == "<299>"
    assert tokenizer.vocab_size == 300
    decoding = decode(checkpoint, "the cat", "sample", max_len=4)
    assert record(checkpoint, "the cat", decoding.target).attentions


def test_what_to_put_beside_nano_gpt(bytes_of_gpt: Path) -> None:
    (bytes_of_gpt / "tokenizer.json").write_text("{")
    with pytest.raises(CheckpointError, match=r": tokenizer\.json cannot be read: "):
        load_checkpoint(bytes_of_gpt)
    (bytes_of_gpt / "tokenizer.json").unlink()
    (bytes_of_gpt / "merges.txt").write_text("#version: 0.2\nxx yy zz\n")
    with pytest.raises(CheckpointError, match=r": vocab\.json and merges\.txt cannot be read: "):
        load_checkpoint(bytes_of_gpt)
    for name in ("vocab.json", "merges.txt"):
        (bytes_of_gpt / name).unlink()
    with pytest.raises(InputError, match=r"put its vocabulary .* GPT-2's vocab\.json and merges"):
        decode(load_checkpoint(bytes_of_gpt, "cpu"), "the cat")


def test_a_vocabulary_with_more_pieces_than_the_model(
    bytes_of_gpt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codebases, "CHARACTERS", "abc")
    codebases.nano_gpt(bytes_of_gpt)
    with pytest.raises(CheckpointError, match=r"tokenizer\.json has 269 pieces, the model 3\.$"):
        load_checkpoint(bytes_of_gpt)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "vocab.txt",
            "a\nb",
            r"vocab\.txt has 2 pieces, the model's source has 23: .*padding too\.$",
        ),
        ("vocab.json", '{"a": 0, "b": 2}', r"vocab\.json must give each piece an id"),
        ("vocab.json", '{"a": "x"}', r"vocab\.json must give each piece an id"),
        ("vocab.json", "[" * 9000, r"vocab\.json cannot be read"),
        ("headscope.json", "{", r"headscope\.json cannot be read"),
        (
            "headscope.json",
            '{"colour": 1}',
            r"headscope\.json may say activation, attention_scale, bos_id, .* nothing",
        ),
        ("headscope.json", '{"n_heads": 3}', r"model\.chkpt has .*w_vs\.weight of \[10, 16\]"),
        ("headscope.json", '{"n_heads": "two"}', r"model\.chkpt describes no model: n_heads must"),
        (
            "headscope.json",
            '{"activation": "sin"}',
            r"describes no model: activation must be one of",
        ),
    ],
)
def test_what_is_wrong_beside_a_file(
    name: str, content: str, sentence: str, tmp_path: Path
) -> None:
    codebases.jadore(tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(CheckpointError, match=rf"^{tmp_path.name}: .*{sentence}"):
        load_checkpoint(tmp_path)


def test_classes_have_names_if_the_sidecar_says_so(tmp_path: Path) -> None:
    codebases.former_classifier(tmp_path)
    assert load_checkpoint(tmp_path, "cpu").config.classes == ("class 0", "class 1", "class 2")
    (tmp_path / "headscope.json").write_text('{"n_heads": 2, "classes": ["a", "b", "c"]}')
    assert load_checkpoint(tmp_path, "cpu").config.classes == ("a", "b", "c")


def test_splitting_and_joining() -> None:
    tokenizer = VocabularyTokenizer(["<unk>", "<s>", "</s>", "it", "rains"], frame=Frame(1, 2, 2))
    assert tokenizer.encode(" it  snows\n") == [1, 3, 0, 2]
    assert tokenizer.encode("it", "target") == [3, 2]
    assert tokenizer.encode("it", "text") == tokenizer.encode("it", "prompt") == [3]
    assert tokenizer.decode([1, 3, 4, 2]) == "it rains"
    with pytest.raises(TokenizerError, match="has never seen the word “snows”"):
        VocabularyTokenizer(["it"]).encode("it snows")


def test_halves_of_a_surrogate_pair_are_their_character_or_a_question_mark() -> None:
    letters = VocabularyTokenizer(["a", "?", "🙂"], "characters")
    assert letters.encode("a\ud83d\ude42\ud83d") == [0, 2, 1]


def test_they_save_themselves(tmp_path: Path) -> None:
    words = VocabularyTokenizer(["a", "b"])
    pieces = SentencePieceVocabulary(sentencepiece_model(), further=["<s>"])
    PairTokenizer(words, pieces).save(tmp_path)
    assert json.loads((tmp_path / "source" / "vocab.json").read_text()) == {"a": 0, "b": 1}
    assert (tmp_path / "target" / "tokenizer.model").read_bytes() == sentencepiece_model()


LINES = {
    "Windows' ends": lambda pieces: "\r\n".join(pieces) + "\r\n",
    "Windows' ends, none at the last": lambda pieces: "\r\n".join(pieces),
    "a mark of order": lambda pieces: "\ufeff" + "\n".join(pieces),
    "blank lines at the end": lambda pieces: "\n".join(pieces) + "\n\n\n",
    "how often each occurs": lambda pieces: "".join(
        f"{it}\t{9 - i}\n" for i, it in enumerate(pieces)
    ),
    "log-probabilities": lambda pieces: "".join(f"{it}\t-{i}.5\n" for i, it in enumerate(pieces)),
    "counts behind a space": lambda pieces: "".join(f"{it} 12\n" for it in pieces),
}


@pytest.mark.parametrize("kind", LINES)
def test_a_line_is_its_piece_whatever_ends_it(kind: str, tmp_path: Path) -> None:
    codebases.torch_transformer(tmp_path)
    for side, name, n in (("source", "in", SOURCES), ("target", "out", TARGETS)):
        text = LINES[kind](words(name, n))
        (tmp_path / f"vocab.{side}.txt").write_bytes(text.encode())
    recording = record(load_checkpoint(tmp_path, "cpu"), "in1 in12", "out3")
    assert [token.piece for token in recording.source] == ["<bos>", "in1", "in12", "<eos>"]
    assert [token.piece for token in recording.target] == ["out3", "<eos>"]


def test_pieces_that_end_in_a_return_or_a_number_stay(tmp_path: Path) -> None:
    """As long as one of the lines does not: then it is no way of writing them."""
    codebases.torch_transformer(tmp_path)
    two_vocabularies(tmp_path)
    pieces = ["a\r", "b 3", *words("in", SOURCES)[2:]]
    (tmp_path / "vocab.source.txt").write_bytes("\n".join(pieces).encode())
    tokenizer = source_side(load_checkpoint(tmp_path, "cpu").tokenizer)
    assert [tokenizer.token(id).piece for id in range(SOURCES)] == pieces


def test_a_piece_that_stands_twice_is_named(tmp_path: Path) -> None:
    codebases.torch_transformer(tmp_path)
    two_vocabularies(tmp_path)
    assert not load_checkpoint(tmp_path, "cpu").about.notes
    pieces = [*words("in", SOURCES)[:-1], "in3"]
    (tmp_path / "vocab.source.txt").write_text("\n".join(pieces))
    checkpoint = load_checkpoint(tmp_path, "cpu")
    (note,) = checkpoint.about.notes
    assert "'in3'" in note
    assert checkpoint.tokenizer.encode("in3")[1] == SOURCES - 1


@pytest.mark.parametrize("n", [SOURCES - 2, SOURCES + 1])
def test_another_number_of_pieces_is_refused(n: int, tmp_path: Path) -> None:
    codebases.torch_transformer(tmp_path)
    two_vocabularies(tmp_path)
    (tmp_path / "vocab.source.txt").write_text("\n".join(words("in", n)))
    with pytest.raises(CheckpointError, match=f"has {n} pieces, the model's source has {SOURCES}"):
        load_checkpoint(tmp_path, "cpu")
