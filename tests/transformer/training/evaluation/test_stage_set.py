"""The stage set's files, and its scores."""

from pathlib import Path

import pytest

from transformer import Checkpoint
from transformer.tokenizer import plain
from transformer.training.evaluation import stage
from transformer.training.evaluation.heads import stage_alignments
from transformer.training.evaluation.stage import evaluate_stage, stage_links, stage_pairs
from transformer.training.evaluation.translations import is_lost_half, loop
from transformer.training.task import TrainingError
from transformer.training.translation import key
from transformer.words import text_words


@pytest.mark.parametrize(("file", "least"), [(stage.PAIRS, 100), (stage.SECOND, 80)])
def test_every_line_is_a_sentence_and_its_translation(file: str, least: int) -> None:
    pairs = stage_pairs(file)
    assert len(pairs) >= least
    assert len({source for source, _ in pairs}) == len(pairs)
    for text in (text for pair in pairs for text in pair):
        assert text == plain(text) == " ".join(text.split()) and text
        assert text.isprintable()
    for source, target in pairs:
        assert not is_lost_half(target, source) and not is_lost_half(source, target)
        assert loop(target, source) is None
        assert source[-1] == target[-1] or source[-1] not in ".?!"


def test_the_two_sets_share_no_sentence() -> None:
    sources = [
        key(source) for file in (stage.PAIRS, stage.SECOND) for source, _ in stage_pairs(file)
    ]
    assert len(set(sources)) == len(sources)


def test_sentences_that_were_asked_for_are_there() -> None:
    sources = {source for source, _ in stage_pairs()}
    assert sources >= {
        "The animal didn't cross the street because it was too tired.",
        "Attention is all you need.",
        "The trophy didn't fit in the suitcase because it was too big.",
        "My neighbour sold the car.",
    }


def test_every_link_leads_from_a_word_to_a_word() -> None:
    pairs, links = stage_pairs(), stage_links()
    assert len(pairs) == len(links)
    assert sum(map(bool, links)) >= 50
    for (source, target), of in zip(pairs, links, strict=True):
        assert len(set(of)) == len(of)
        assert {i for i, _ in of} <= set(range(len(text_words(source))))
        assert {j for _, j in of} <= set(range(len(text_words(target))))


def test_the_words_of_an_aligned_sentence_are_nearly_all_linked() -> None:
    pairs = stage_alignments()
    assert len(pairs) == sum(map(bool, stage_links()))
    for pair in pairs:
        assert pair.possible == pair.sure
        for words, side in ((pair.source_words, 0), (pair.target_words, 1)):
            loose = [w for i, w in enumerate(words) if i not in {link[side] for link in pair.sure}]
            assert len(loose) <= 3, (pair.source, loose)


def test_signs_are_linked_to_signs_and_words_to_words() -> None:
    for pair in stage_alignments():
        for i, j in pair.sure:
            ends = pair.source_words[i], pair.target_words[j]
            assert ends[0][0].isalnum() == ends[1][0].isalnum(), ends


def use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs: str, links: str = "") -> None:
    (tmp_path / stage.PAIRS).write_text(pairs)
    (tmp_path / stage.LINKS).write_text(links or "\n" * pairs.count("\n"))
    monkeypatch.setattr(stage, "FOLDER", tmp_path)


def test_a_link_to_no_word_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch, "It rains.\tEs regnet.\n", "0-0 1-1 2-3\n")
    with pytest.raises(TrainingError, match=r"a link leads to no word of “It rains\."):
        stage_alignments()


def test_scores_and_faults(
    text_checkpoint: Checkpoint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    use(tmp_path, monkeypatch, "The trophy was large.\tDas war groß.\nNo.\tNein.\n")
    outputs = ["Das Blarg war groß.", "Nei nei nei nei"]
    monkeypatch.setattr(stage, "translations", lambda *_: outputs)
    (tmp_path / "words.tsv").write_text("x\tdas war groß nein\n")
    scores = evaluate_stage(text_checkpoint, tmp_path)
    assert {name: scores[f"Stage set, greedy, {name}"] for name in ("words", "invented words")} == {
        "words": 8,
        "invented words": 5,
    }
    assert (scores["Stage set, beam 4, lost halves"], scores["Stage set, beam 4, loops"]) == (0, 1)
    said = capsys.readouterr().err
    assert "Stage set, greedy, invented words: “Blarg” in The trophy was large. -> Das B" in said
    assert "Stage set, greedy, loops: “nei” in No. -> Nei nei nei nei\n" in said


def test_without_data_only_invented_words_are_missing(
    text_checkpoint: Checkpoint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    use(tmp_path, monkeypatch, "the cat sees the sea.\tx y z\n")
    scores = evaluate_stage(text_checkpoint, None)
    assert list(scores) == [
        f"Stage set, {method}, {name}"
        for method in ("greedy", "beam 4")
        for name in ("BLEU", "chrF", "words", "lost halves", "loops")
    ]
    assert "Stage set: invented words are left out: there is no --data DIR" in (
        capsys.readouterr().err
    )
