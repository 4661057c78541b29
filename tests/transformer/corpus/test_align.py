"""Which head aligns: planted heads, error rates by hand and by another implementation, files."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from tests.planted import LETTERS, PIECES, START, PlantedCross
from tests.transformer.hugging_face.saving import save, writer
from transformer import Checkpoint, InputError, from_module, load_checkpoint, record
from transformer.__main__ import main
from transformer.analysis.alignment import AlignedPair, Links, Reader, anchored, read_gold
from transformer.analysis.corpus_sweep import interval
from transformer.corpus import align as module
from transformer.corpus.align import Readings, ReadPair, align, counted

Output = pytest.CaptureFixture[str]
PAIRS = [("the old man sees the sea.", "he likes a red book."), ("my cat.", "the dog."), ("a", "a")]
GOLD = ["0-0 1?1 5-4", "1-0 0p1", ""]


def planted() -> Checkpoint:
    """A translator that puts letters in order, whose L0 H0 and H1 align by one row each."""
    torch.manual_seed(0)

    def tokenize(text: str) -> list[int]:
        return [*(PIECES.index(letter) for letter in text.split()), 0]

    pieces = ["</s>", *(f"▁{letter}" for letter in LETTERS), "<s>"]
    look: Any = {"writes": "target", "start": START, "end": 0, "max_len": 20}
    return from_module(PlantedCross(), tokenize, pieces, "a b c", **look)


def test_planted_heads_are_found_each_by_its_row() -> None:
    random = Random(0)
    sources = [" ".join(random.sample(LETTERS, random.randint(4, 9))) for _ in range(12)]
    result = align(planted(), sources)
    best, next_, third = result.scores[:3]
    assert {best.reader, next_.reader} == {Reader("read", 0, 0), Reader("produced", 0, 1)}
    assert best.error.mean == next_.error.high == 0 and best.precision == best.recall == 1
    assert (third.error.low or 0) > 20
    assert result.alignment_heads == [[0, 1]]
    for line, source in zip(result.lines, sources, strict=True):
        letters = source.split()
        assert line.target == tuple(sorted(letters))
        pairs = {(letters[i], line.target[j]) for i, j, _ in line.links}
        assert pairs == {(letter, letter) for letter in letters}
        assert min(weight for *_, weight in line.links) > 0.99


def links_by_hand(checkpoint: Checkpoint, pair: tuple[str, str], reader: Reader) -> set[Any]:
    """The same links, from a recording's weights with loops; each piece spells letters only."""
    cross = record(checkpoint, *pair).attentions["cross"]
    weights = cross.weights(reader.layer)
    map = weights.mean(0) if reader.head is None else weights[reader.head]
    rows = cross.queries if reader.rows == "read" else cross.produced or ()

    def words(tokens: Sequence[Any]) -> list[int | None]:
        number, places = -1, list[int | None]()
        for token in tokens:
            number += token.piece.startswith("▁")
            places.append(None if token.special else number)
        return places

    of_rows, of_keys, links = words(rows), words(cross.keys), set()
    for j in range(len(pair[1].split())):
        given: dict[int | None, float] = {}
        for q, row in enumerate(of_rows):
            for k, key in enumerate(of_keys):
                if row == j:
                    given[key] = given.get(key, 0.0) + float(map[q, k]) / of_rows.count(j)
        most = max(given, key=lambda word: given[word])
        links |= set() if most is None else {(most, j)}
    return links


def test_every_reader_is_judged_as_by_hand(text_checkpoint: Checkpoint) -> None:
    """Another implementation, of all numbers; and of the diagonal on paper."""
    sources, targets = zip(*PAIRS, strict=True)
    result = align(text_checkpoint, sources, targets, GOLD)
    gold = [
        ({(0, 0), (5, 4)}, {(0, 0), (1, 1), (5, 4)}),
        ({(1, 0)}, {(1, 0), (0, 1)}),
        (set(), set()),
    ]
    config = text_checkpoint.config
    assert len(result.scores) == 2 * config.n_decoder_layers * (config.n_heads + 1)
    for score in result.scores:
        sure = possible = n = 0
        for pair, (s, p) in zip(PAIRS, gold, strict=True):
            links = links_by_hand(text_checkpoint, pair, score.reader)
            sure, possible, n = sure + len(links & s), possible + len(links & p), n + len(links)
        assert score.error.mean == pytest.approx(100 * (1 - (sure + possible) / (n + 3)))
        assert (score.precision, score.recall) == (possible / max(n, 1), sure / 3)
        assert score.error.n_sentences == 3
    # Diagonals: 0-0 1-1 3-2 4-3 5-4, 0-0 1-1 and 0-0; |A| = 8, |S| = 3, 2 of S and 3 of P found.
    assert result.readings.diagonal and result.readings.diagonal.mean == pytest.approx(100 * 6 / 11)
    assert [score.error.mean for score in result.scores] == sorted(
        score.error.mean for score in result.scores
    )


def read(links: Sequence[set[tuple[int, int]]], gold: Sequence[tuple[Links, Links]]) -> Readings:
    """Readings of one reader, of pairs of three words each."""
    pairs = []
    for n, (each, (sure, possible)) in enumerate(zip(links, gold, strict=True), 1):
        most = torch.tensor([[next((i for i, k in each if k == j), 3) for j in range(3)]])
        pair = AlignedPair("", "", ("a",) * 3, ("b",) * 3, sure, possible)
        counts = counted(pair, torch.cat([most, most]), only_touching=False)
        pairs.append(ReadPair(n, ("a",) * 3, ("b",) * 3, most, most.float(), counts, len(sure)))
    return Readings("gold", (Reader("read", 0, 0),), tuple(pairs))


def test_the_error_rate_of_three_sentences_by_hand() -> None:
    links = [{(0, 0), (1, 1), (2, 2)}, {(0, 0), (2, 1)}, {(1, 1)}]
    gold = read_gold(["0-0 1-1 2?2", "0-0 1-1 2-2", "0-0 1-1"], 3)
    (score,) = read(links, gold).scores
    # |A and S| = 2 + 1 + 1, |A and P| = 3 + 1 + 1, |A| = 6, |S| = 2 + 3 + 2
    assert score.error.mean == pytest.approx(100 * (1 - (4 + 5) / (6 + 7)))
    assert (score.precision, score.recall) == (pytest.approx(5 / 6), pytest.approx(4 / 7))
    assert score.error.low is not None and score.error.high is not None
    assert score.error.low < score.error.mean < score.error.high


def test_intervals_of_ratios_are_each_by_its_own_sizes() -> None:
    torch.manual_seed(0)
    values, sizes = torch.rand(30, 3), torch.randint(1, 9, (30, 3))
    every = interval(values, sizes)
    for at in range(3):
        alone = interval(values[:, [at]], sizes[:, at])
        for name in ("mean", "low", "high"):
            assert torch.equal(getattr(every, name)[[at]], getattr(alone, name))


def test_anchors_are_what_both_spell_alike_once_but_for_the_end() -> None:
    pair = anchored("Tom, 3 cats and a cat.", "Tom hat 3 cats, hat und a, a.")
    words = {(pair.source_words[i], pair.target_words[j]) for i, j in pair.sure}
    assert words == {("Tom", "Tom"), ("3", "3"), ("cats", "cats")}
    # Of links that touch no anchor nothing is known; one from an anchor to another word is wrong.
    most = torch.tensor([[0, 4, 2, 3, 4, 4, 4, 4, 4, 4, 4], [4, 0, 8, 8, 8, 8, 8, 8, 8, 8, 8]])
    assert counted(pair, most, only_touching=True).tolist() == [[3, 3, 3], [0, 0, 2]]


def test_gold_is_read_in_the_forms_of_the_field() -> None:
    sure, possible = frozenset([(0, 0), (2, 1)]), frozenset([(0, 0), (2, 1), (1, 0)])
    assert read_gold(["0-0 1?0 2-1"], 1) == [(sure, possible)]
    assert read_gold(["1-1 1p2 2-3", ""], 1, base=1, is_turned=True) == [(sure, possible)]
    naacl = ["0001 1 1 S", "1 2 1 P 0.5", "1 3 2", "1 0 3 S", ""]  # 0: no word
    assert read_gold(naacl, 1) == [(sure, possible)]
    assert read_gold(["2 0 0 S"], 2, base=0)[1] == (frozenset([(0, 0)]),) * 2
    for lines, n, why in (
        (["0-0"], 2, "1 lines for 2 pairs"),
        (["0-0 x"], 1, "Line 1 .* 'x'"),
        (["1 1 1 S", "1 1"], 1, "Line 2 "),
        (["3 1 1 S"], 2, "pair 3"),
    ):
        with pytest.raises(InputError, match=why):
            read_gold(lines, n)


def test_what_cannot_be_aligned_is_one_sentence(text_checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError, match="pair 1 links words 6 and 0"):
        align(text_checkpoint, [PAIRS[0][0]], [PAIRS[0][1]], ["6-0"])
    with pytest.raises(InputError, match="give them, too"):
        align(text_checkpoint, ["a"], gold=["0-0"])
    with pytest.raises(InputError, match=r"No pair .* spell alike"):
        align(text_checkpoint, ["the cat"], ["he is"])
    with pytest.raises(InputError, match=r"can be aligned: line 1 .* empty"):
        align(text_checkpoint, [""], ["he is"])
    with pytest.raises(InputError, match="no cross-attention"):
        align(load_checkpoint("sentiment", "cpu"), ["the cat"])
    with pytest.raises(IndexError, match="no head 9"):
        align(text_checkpoint, ["the cat"], ["he is"], reader=Reader("read", 0, 9))
    for reader in (("read", 0, 1), ["read", 0, 1]):
        by = align(text_checkpoint, ["the cat"], ["he is"], reader=reader)  # type: ignore[arg-type]
        assert by.reader == Reader("read", 0, 1) and len(by.lines) == 1
    for wrong in ("read", ("reads", 0, 1), ("read", 0), (0, 6), ({}, 0, 1)):
        with pytest.raises(InputError):
            align(text_checkpoint, ["the cat"], ["he is"], reader=wrong)  # type: ignore[arg-type]


def test_a_batch_reads_as_each_pair_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model of the library's; and a long corpus, whose later lines a chosen reader aligns."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    checkpoint = load_checkpoint(save(writer("Marian"), tmp_path), "cpu")
    sources = ["the cat sat .", "dog", "the dog ran the cat ran .", "", "the cat"]
    targets = ["w1 cat w2 .", "dog ran", "w3 the dog", "w1", "w5"]
    both = [align(checkpoint, sources, targets, batch=batch) for batch in (1, 8)]
    assert both[0].scores == both[1].scores
    lines = [[(line.sentence, line.pharaoh) for line in each.lines] for each in both]
    assert lines[0] == lines[1]
    last = align(checkpoint, sources, targets, reader=Reader("read", 0, None)).lines[1]
    assert last.target == ("dog", "ran") and {j for _, j, _ in last.links} == {0}  # no end token
    assert [number for number, _ in lines[0]] == [1, 2, 3, 5]
    monkeypatch.setattr(module, "CHOOSING", 2)
    monkeypatch.setattr(module, "AT_ONCE", 1)
    long = align(checkpoint, sources, targets, reader=both[0].reader)
    assert [(line.sentence, line.pharaoh) for line in long.lines] == lines[0]
    assert long.readings.n_done == 5 and long.scores[0].error.n_sentences == 2
    assert [reason[:6] for reason in long.readings.left_out] == ["line 4"]


def run(*arguments: object) -> int:
    return main(["align", "en-de-small", *map(str, arguments), "--device", "cpu"])


def test_the_command_writes_a_line_for_each_of_the_corpus(tmp_path: Path, capsys: Output) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.txt"
    corpus.write_text("Tom is here.\tTom ist hier.\n\nIt is 3 o'clock. ||| Es ist 3 Uhr.\n")
    table, rich = tmp_path / "t.csv", tmp_path / "out.jsonl"
    assert run(corpus, "--out", out, "--table", table, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    first, empty, last = out.read_text().split("\n")[:-1]
    assert (
        empty == "" and {link.split("-")[1] for link in first.split()} <= {"0", "1", "2"} and last
    )
    assert len(result["scores"]) == len(table.read_text().splitlines()) - 1
    assert result["links"] == result["pairs"] == 2 and result["left_out"][0].startswith("line 2 ")
    best = result["reader"]
    layer, head = best["layer"], best["head"]
    place = str(layer) if head is None else f"{layer}.{head}"
    assert run(corpus, "--out", rich, "--head", place, "--rows", best["rows"]) == 0
    lines = [json.loads(line) for line in rich.read_text().splitlines()]
    assert [line["sentence"] for line in lines] == [1, 3]
    assert " ".join(f"{i}-{j}" for i, j, _ in lines[0]["links"]) == first
    assert lines[0]["target"] == ["Tom", "ist", "hier."] and 0 < lines[0]["links"][0][2] <= 1
    assert f"alignment_heads: {result['alignment_heads']}" in capsys.readouterr().out


def test_the_command_reads_two_files_and_gold(tmp_path: Path, capsys: Output) -> None:
    source, target, gold = (tmp_path / name for name in ("en", "de", "gold"))
    source.write_text("Tom is here .\nThe cat sees me .\n")
    target.write_text("Tom ist hier .\nDie Katze sieht mich .\n")
    gold.write_text("1-1 2-2 3-3 4-4\n1-1 2-2 3-3 4-4 5-5\n")
    files = (source, "--target", target, "--gold", gold)
    assert run(*files, "--gold-base", 1, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["by"], result["links"], result["diagonal"]["mean"]) == ("gold", 9, 0)
    target.write_text("Tom ist hier .\n")
    for arguments, why in (
        (files, "1 lines for the 2"),
        ((source, "--gold", gold), "--gold is of given translations"),
        ((tmp_path / "none",), "none"),
    ):
        assert run(*arguments) == 1
        assert why in capsys.readouterr().err
