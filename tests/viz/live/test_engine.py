"""The browser's engine says what Python says: two engines, one truth."""

import os
import random
import re
import shutil
import subprocess
import unicodedata
from base64 import b64decode
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.node import node
from tests.representatives import cases
from tests.viz.live.engine import (
    ENGINE,
    LOG_PROB,
    ROOT,
    ask,
    change_differences,
    checkpoint_of,
    differences,
    evidence_differences,
)
from transformer import decode, inputs, record
from transformer.analysis import lost
from transformer.causes import change
from transformer.causes.change import Carriers
from transformer.causes.evidence import MOST_FOILS
from transformer.corpus.carriers import shipped_carriers
from transformer.decoding import course, steps
from transformer.inputs import InputError, source_ids
from transformer.training.evaluation.stage import stage_pairs
from viz.components.kit.browser import bundle

CHECKPOINTS, METHODS = ("en-de", "en-de-small", "en-de-1"), ("greedy", "beam")
SENTENCES = [source for source, _ in stage_pairs()]
SOME, FEWER, MANY = 4, 16, 50
LOSING = (
    "My brother lives in Berlin with his wife.",
    "They themselves don't know what they want.",
    "Have you ever been to Norway in winter?",
)
NEGATED = ("She didn't come to school yesterday because she was ill.",)
OTHERS = ("He has two small dogs and a big black cat.", "The train leaves at 7.")
LONG = "When the old man came home, his dog was waiting at the door. "
ODD = (
    *(
        "Hello!",
        "  two  spaces ",
        "C++ isn't 3.50 €",
        "“ok” – and so on…",
        "ﬁne ½ ²",
        "ＦＵＬＬ ｗｉｄｔｈ",
    ),
    *("👩‍👩‍👧 🏳️‍🌈 👍🏽", "日本語のテキスト", "한국어", "العربية", "עברית", "हिन्दी", "ภาษาไทย"),
    *(
        "e\u0301a\u0308",
        "a\u0300\u0301\u0302",
        "tab\there",
        "line\nbreak",
        "\x00\x01\x7f",
        "a\u200bb",
    ),
    *(
        "half a pair \ud83d of signs",
        "\ufffd",
        "▁under▁",
        "<s> </s> <unk>",
        "\u00a0\u202f",
        "\ufeffx",
    ),
    *(
        "Straße",
        "İstanbul",
        "ﷺ",
        "㍿",
        "Ωmega",
        "naïve café",
        "x" * 200,
        "don’t",
        "\u3000wide\u3000",
    ),
)


def one(name: str, case: dict[str, Any]) -> Any:
    return ask(name, [case])[0]


def written(name: str, text: str) -> list[int]:
    return [token.id for token in decode(checkpoint_of(name), text).target]


@pytest.mark.parametrize(
    ("name", "method"),
    cases(
        product(CHECKPOINTS, METHODS),
        {
            "a length penalty of its own": ("en-de", "beam"),
            "a vocabulary of another size": ("en-de-small", "greedy"),
            "heads of another size": ("en-de-1", "beam"),
        },
    ),
)
def test_it_writes_the_same_and_looks_at_the_same(name: str, method: str) -> None:
    asked = [{"text": text, "method": method} for text in SENTENCES[:SOME]]
    assert differences(name, asked) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_it_does_so_of_many_sentences(name: str) -> None:
    asked = [
        {"text": text, "method": method} for text in SENTENCES[SOME:MANY] for method in METHODS
    ]
    assert differences(name, asked) == []


@pytest.mark.parametrize(
    "name", cases(CHECKPOINTS, {"heads that are read and written alike": "en-de-small"})
)
def test_a_changed_model_writes_the_same(name: str) -> None:
    """Heads off, words hidden and cut off, arrows cut: each in every kind of attention."""
    heads = ["head-off:cross.2.1", "head-off:encoder_self.0.2", "head-off:decoder_self.1.0"]
    arrows = ["cut:cross.2.1.3.2", "cut:encoder_self.1.2.0.1", "cut:decoder_self.0.1.2.1"]
    changes = [
        *(heads, ["hide:source.1"], ["cut-word:cross.2"], arrows),
        *([*arrows, "hide:source.2", *heads], ["cut:decoder_self.1.3.30.2"]),
    ]
    asked = [
        {"text": text, "method": METHODS[i % 2], "changes": changes[i % len(changes)]}
        for i, text in enumerate(SENTENCES[: 2 * len(changes)])
    ]
    assert differences(name, asked) == []


@pytest.mark.parametrize("name", cases(CHECKPOINTS, {"all": "en-de-small"}))
def test_a_text_goes_on_from_its_beginning(name: str) -> None:
    text = SENTENCES[0]
    ids = written(name, text)
    prefixes = [ids[:3], [*ids[:2], 321], ids, ids[:-1]]  # its own, another word, its end, all but
    asked = [
        {"text": text, "method": method, "prefix": prefix}
        for prefix, method in product(prefixes, METHODS)
    ]
    assert differences(name, asked) == []


@pytest.mark.parametrize("name", cases(CHECKPOINTS, {"all": "en-de-small"}))
def test_options_of_the_beam_mean_the_same(name: str) -> None:
    options = [
        {"beam_size": 1},
        {"beam_size": 16, "length_penalty": 0.0},
        {"length_penalty": 3.0, "early_stopping": 1},
        {"plain_length": 1, "early_stopping": 2},
        {"max_len": 3},
    ]
    asked = [{"text": SENTENCES[1], "method": "beam", "options": each} for each in options]
    assert differences(name, asked) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "n"),
    cases(
        product(CHECKPOINTS, (10, 16)),
        {"more rows than are multiplied at once": ("en-de-small", 10)},
    ),
)
def test_long_texts(name: str, n: int) -> None:
    """Of 158 tokens and of nearly all that a model reads."""
    text = (LONG * n).strip()
    assert len(source_ids(checkpoint_of(name), text)) > 9 * n
    asked = [{"text": text, "method": method, "options": {"max_len": 120}} for method in METHODS]
    assert differences(name, asked) == []


@pytest.mark.parametrize("name", cases(CHECKPOINTS, {"the smallest": "en-de-small"}))
def test_it_computes_the_same_without_simd(name: str) -> None:
    changes = ["cut:cross.2.1.3.2", "hide:source.2"]
    asked: list[dict[str, Any]] = [{"text": SENTENCES[2], "method": each} for each in METHODS]
    assert differences(name, [*asked, {**asked[1], "changes": changes}], is_plain=True) == []


@pytest.mark.parametrize(
    ("name", "changes"),
    cases(
        product(CHECKPOINTS, ((), ("hide:source.1", "head-off:cross.2.1"))),
        {
            "nothing is changed": ("en-de-small", ()),
            "something is": ("en-de-small", ("hide:source.1", "head-off:cross.2.1")),
        },
    ),
)
def test_each_word_needs_the_same(name: str, changes: Sequence[str]) -> None:
    """Its costs, and the words that are lost: the small model says less than it reads."""
    assert evidence_differences(name, LOSING, "beam", changes) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_each_word_of_many_sentences_needs_the_same(name: str) -> None:
    assert evidence_differences(name, SENTENCES[:FEWER]) == []


@pytest.mark.parametrize(
    ("name", "texts"),
    cases(
        (("en-de", NEGATED), ("en-de-small", NEGATED), ("en-de", OTHERS), ("en-de-small", OTHERS)),
        {"known heads": ("en-de", NEGATED), "heads that are looked for": ("en-de-small", OTHERS)},
    ),
)
def test_the_smallest_change_is_the_same(name: str, texts: Sequence[str]) -> None:
    shipped = shipped_carriers(ROOT / "checkpoints" / name)
    carriers = Carriers("de", ()) if shipped is None else shipped.carriers
    assert change_differences(name, texts, carriers) == []


@pytest.mark.parametrize(
    "name", cases(CHECKPOINTS, {"one tokenizer": "en-de", "another": "en-de-small"})
)
def test_texts_are_cut_into_the_same_pieces(name: str) -> None:
    checkpoint, drawn = checkpoint_of(name), random.Random(1)
    known = [chr(i) for i in range(0x30000) if unicodedata.category(chr(i)) not in ("Cn", "Cs")]
    texts = [*ODD, *SENTENCES, *("".join(drawn.choices(known, k=12)) for _ in range(300))]
    for text, ids in zip(
        texts, ask(name, [{"call": "ids", "text": t} for t in texts]), strict=True
    ):
        try:
            expected = source_ids(checkpoint, text)
        except InputError:
            expected = None
        assert (None if "error" in ids else ids) == expected, ascii(text)


@pytest.mark.parametrize("name", cases(CHECKPOINTS, {"one tokenizer": "en-de"}))
def test_pieces_spell_the_same_text(name: str) -> None:
    """Pieces in any order, spaces and bytes among them, which no model might write."""
    checkpoint, drawn = checkpoint_of(name), random.Random(2)
    sizes = [drawn.randint(1, 9) for _ in range(400)]
    pieces = [checkpoint.tokenizer.token(i).piece for i in range(checkpoint.config.vocab_size)]
    space = pieces.index("▁")
    every = [
        [drawn.choice((drawn.randrange(4000), drawn.randrange(260))) for _ in range(n)]
        for n in sizes
    ]
    every += [[space, each[0], space, *each] for each in every[:50]]
    texts = ask(name, [{"call": "text", "ids": ids} for ids in every])
    for ids, text in zip(every, texts, strict=True):
        assert text == checkpoint.tokenizer.decode(ids), ids


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"text": " "}, "empty"),
        ({"text": "word " * 300}, "256"),
        ({"text": "x " * 20_000}, "20,000"),
        ({"method": "sample"}, "sample"),
        ({"options": {"beam_size": 17}}, "beam_size"),
        ({"options": {"coverage_penalty": 0.5}}, "coverage_penalty"),
        ({"changes": ["head-mean:cross.0.0"]}, "head-mean"),
        ({"changes": ["head-off:cross.0"]}, "head-off:PLACE.LAYER.HEAD"),
        ({"changes": ["head-off:cross.3.0"]}, "layer 3"),
        ({"changes": ["head-off:own.0.0"]}, "own"),
        ({"changes": ["hide:source.40"]}, "word 40"),
        ({"changes": [f"cut:encoder_self.0.0.0.{key}" for key in range(5)]}, "query 0"),
        ({"options": {"beam_size": 2.5}}, "2.5"),
        ({"options": {"max_len": 0}}, "max_len"),
        ({"prefix": [2, 5]}, "end"),
        ({"prefix": [5, 4000]}, "4000"),
        ({"prefix": [5] * 80}, "80 tokens"),
    ],
)
def test_what_a_person_can_mend_is_one_sentence(asked: dict[str, Any], named: str) -> None:
    error = one("en-de-small", {"call": "answer", "text": "It rains.", **asked})["error"]
    assert named in error
    assert re.fullmatch(r"[^\n]+[.]", error)


BROKEN: dict[str, Callable[[Path], object]] = {
    "norm_order": lambda folder: rewritten(folder / "config.json", '"post"', '"sublayer"'),
    "tokenizer": lambda folder: rewritten(folder / "config.json", '"sentencepiece"', '"ids"'),
    "weights": lambda folder: cut_short(folder / "model.safetensors"),
    "sentencepiece": lambda folder: cut_short(folder / "tokenizer.model"),
}


def rewritten(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1000])


@pytest.mark.parametrize("named", BROKEN)
def test_a_checkpoint_that_is_not_read_is_refused_in_a_sentence(named: str, tmp_path: Path) -> None:
    whole, folder = Path(checkpoint_of("en-de-small").path), tmp_path / "broken"
    folder.mkdir()
    for file in ("config.json", "model.safetensors", "tokenizer.model"):
        shutil.copy2(whole / file, folder / file)
    BROKEN[named](folder)
    (opened,) = ask(str(folder), [{"call": "ids", "text": "It rains."}])
    assert named in opened["error"] and re.fullmatch(r"[^\n]+[.]", opened["error"])


@pytest.mark.parametrize(
    ("name", "kind"),
    cases(
        product(CHECKPOINTS, ("encoder_self", "decoder_self", "cross")),
        {
            "a text with itself": ("en-de-small", "decoder_self"),
            "two texts": ("en-de-small", "cross"),
        },
    ),
)
def test_a_layer_is_seen_from_inside(name: str, kind: str) -> None:
    """Queries, keys, values and W_O of a layer, as a recording keeps them."""
    checkpoint, text = checkpoint_of(name), SENTENCES[3]
    decoding = decode(checkpoint, text, "beam")
    call = record(checkpoint, text, decoding.target).attentions[kind].calls[1]
    assert call.output is not None
    given = one(name, {"call": "call", "text": text, "kind": kind, "layer": 1})
    assert given["scale"] == pytest.approx(call.scale)
    parts = {"q": call.q, "k": call.k, "v": call.v, "output": call.output}
    for part, tensor in parts.items():
        values = np.frombuffer(b64decode(given[part]), np.float32).reshape(tensor.shape)
        assert np.abs(values - tensor.float().numpy()).max() < LOG_PROB, part


def test_a_text_that_was_asked_before_is_not_computed_again() -> None:
    """The last answers are kept, up to so many bytes; another search is another answer."""
    first, again, other, later = ask(
        "en-de-small",
        [
            {"call": "kept", "texts": ["It rains.", "It snows.", "It rains."]},
            {"call": "kept", "texts": ["It rains."]},
            {"call": "kept", "texts": ["It rains."], "method": "greedy"},
            {"call": "kept", "texts": ["It hails.", "We walk.", "It hails."], "most": 10},
        ],
    )
    assert (first, again, other, later) == ([1, 1, 0], [0], [1], [1, 1, 1])


def test_nothing_of_a_checkpoint_stays_when_another_is_opened() -> None:
    assert one("en-de-small", {"call": "isForgotten", "text": "It rains."}) is True


def test_numbers_that_python_also_keeps_are_the_same() -> None:
    kept = {
        "answer.js": {"MOST_CHARACTERS": inputs.MAX_CHARACTERS},
        "change.js": {
            name: getattr(change, name) for name in ("N_STRONGEST", "MOST_DECODED", "SHORTEST")
        },
        "decoding.js": {"N_CANDIDATES": steps.N_CANDIDATES, "N_BESIDE": course.N_BESIDE},
        "evidence.js": {"MOST_FOILS": MOST_FOILS},
        "lost.js": {
            name: getattr(lost, name)
            for name in ("LOST", "NEAR", "SHARE", "WINDOW", "BACKED", "LEAST", "LONGEST")
        },
    }
    for file, numbers in kept.items():
        text = (ENGINE / file).read_text("utf-8")
        for name, number in numbers.items():
            (found,) = re.findall(rf"^const {name} = ([-\d._]+);", text, re.M)
            assert float(found) == number, name


def test_all_of_it_is_one_script(tmp_path: Path) -> None:
    """As a page has it: put together like a component, without modules."""
    names = {
        "answer": "openCheckpoint, answer, sourceOf, textOf",
        "change": "searchingChange",
        "evidence": "evidenceOf",
        "inside": "callOf",
        "tokenizer": "tokenOf",
    }
    lines = [
        f'import {{ {exports} }} from "{os.path.relpath(ENGINE, tmp_path)}/{name}.js";'
        for name, exports in names.items()
    ]
    entry = tmp_path / "entry.js"
    every = ", ".join(names.values())
    lines += [f"const all = [{every}];", "export default all;", ""]
    entry.write_text("\n".join(lines), encoding="utf-8")
    code = f"console.log({bundle(entry).script}.every((each) => typeof each === 'function'))"
    done = subprocess.run([node(), "-"], input=code, capture_output=True, text=True, check=False)
    assert done.stdout == "true\n", done.stderr


def test_the_kernel_is_what_its_text_says(tmp_path: Path) -> None:
    assembler = shutil.which("wat2wasm")
    if assembler is None:
        pytest.skip("NO ASSEMBLER FOUND: npm's and Debian's package wabt has wat2wasm")
    made = tmp_path / "kernel.wasm"
    subprocess.run([assembler, str(ENGINE / "kernel.wat"), "-o", str(made)], check=True)
    assert made.read_bytes() == (ENGINE / "kernel.wasm").read_bytes()
