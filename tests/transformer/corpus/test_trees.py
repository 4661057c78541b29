"""Trees of CoNLL-U files: which heads of attention look along their arcs, and by how much more than
a head that knows places only."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.transformer.corpus.test_survey import one_hot, planted
from transformer import InputError
from transformer.__main__ import main
from transformer.corpus.measured import measured
from transformer.corpus.shards import Parts, table_of, write_part
from transformer.corpus.summary import read_survey, summary
from transformer.corpus.trees import TO_DEPENDENT, TO_HEAD, Tree, hits, read_trees

CONLLU = """\
# text = the old man did not sleep .
1\tthe\tthe\tDET\t_\t_\t3\tdet\t_\t_
2\told\told\tADJ\t_\t_\t3\tamod\t_\t_
3\tman\tman\tNOUN\t_\t_\t6\tnsubj:outer\t_\t_
4-5\tdidn't\t_\t_\t_\t_\t_\t_\t_\t_
4\tdid\tdo\tAUX\t_\t_\t6\taux\t_\t_
5\tnot\tnot\tPART\t_\t_\t6\tadvmod\t_\t_
5.1\tever\tever\tADV\t_\t_\t_\t_\t_\t_
6\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\t_
7\t.\t.\tPUNCT\t_\t_\t6\tpunct\t_\t_

# text = she saw him
1\tshe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tsaw\tsee\tVERB\t_\t_\t0\troot\t_\t_
3\thim\the\tPRON\t_\t_\t2\tobj\t_\t_
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "trees.conllu"
    file.write_text(CONLLU)
    return file


def test_a_file_is_read(file: Path) -> None:
    first, second = read_trees(file)
    assert first.text == "the old man did not sleep ."
    assert first.arcs == [
        ("det", 0, 2),
        ("amod", 1, 2),
        ("nsubj", 2, 5),
        ("aux", 3, 5),
        ("advmod", 4, 5),
    ]
    assert second.heads == (1, None, 1)
    file.write_text("# text = a\n1\ta\tb\n")
    with pytest.raises(InputError, match="line 2"):
        read_trees(file)
    for head in ("9", "9" * 5000):
        file.write_text(CONLLU.replace("\t2\tobj", f"\t{head}\tobj"))
        with pytest.raises(InputError, match="no head"):
            read_trees(file)
    file.write_text(CONLLU.replace("\tobj", "\tob j"))
    with pytest.raises(InputError, match="no spaces"):
        read_trees(file)


TREE = Tree("ab c", ("ab", "c"), (1, None), ("det", "root"))


def test_pieces_become_words() -> None:
    """The rows of a and b are averaged, and their columns added; the end is no word."""
    weights = torch.tensor([[[0.1, 0.2, 0.6, 0.1], [0.1, 0.2, 0.6, 0.1], [0.3, 0.1, 0.2, 0.4]]])
    weights = torch.cat([weights, weights[:, :1]], 1)
    assert hits(TREE, weights, [0, 0, 1, None]).tolist() == [[TO_HEAD | TO_DEPENDENT]]
    three = Tree("a b c", ("a", "b", "c"), (2, 2, None), ("det", "amod", "root"))
    after = torch.tensor([one_hot([1, 2, 1])])
    assert hits(three, after, [0, 1, 2]).tolist() == [[0, TO_HEAD | TO_DEPENDENT]]


def test_a_word_that_sees_no_other_finds_none() -> None:
    """Under a causal mask, or without tokens: what every head would find says nothing of one."""
    causal = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    assert hits(TREE, causal, [0, 1]).tolist() == [[TO_DEPENDENT]]
    assert hits(TREE, causal, [1, 1]).tolist() == [[0]]


def test_arcs_that_a_mask_hides_are_not_counted() -> None:
    """A causal head sees nothing after a word: of those before it, it finds all."""
    after = Tree("ab", ("a", "b"), (1, None), ("det", "root"))
    before = Tree("ab", ("a", "b"), (None, 0), ("root", "det"))
    trees = {n: before if n % 2 else after for n in range(1, 61)}
    rows = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    causal = planted(rows, "ab$")
    causal = replace(causal, calls=[replace(causal.calls[0], is_causal=True)])
    lines = [each for number in trees for each in measured(causal, [number], None, trees)]
    (head,) = summary(lines).heads
    det = head.syntax["det"]
    # In either direction 30 arcs are seen, and each is found; most of all have another offset.
    assert (det.n_arcs, det.accuracy, det.by_offset) == (30, 1.0, 1.0)
    assert det.offset == (-1 if det.direction == "to head" else 1)


def test_a_planted_head_finds_its_relation(tmp_path: Path) -> None:
    """One head looks at the next word always; in a third of the trees the noun is further away."""
    near = Tree("abc", ("a", "b", "c"), (1, 2, None), ("det", "nsubj", "root"))
    far = Tree("abc", ("a", "b", "c"), (2, 2, None), ("det", "nsubj", "root"))
    trees = {n: far if n % 3 == 0 else near for n in range(1, 31)}
    lines = [
        each
        for number in trees
        for each in measured(planted(one_hot([1, 2, 1, 3]), "abc$"), [number], None, trees)
    ]
    write_part(table_of(lines), tmp_path, 0)
    for survey in (summary(lines), summary(Parts(tmp_path))):
        (head,) = survey.heads
        det, nsubj = head.syntax["det"], head.syntax["nsubj"]
        assert (nsubj.accuracy, nsubj.n_arcs, nsubj.offset, nsubj.by_offset) == (1.0, 30, 1, 1.0)
        assert det.accuracy == pytest.approx(2 / 3) and det.by_offset == pytest.approx(2 / 3)
        assert (det.direction, det.offset) == ("to head", 1)
        assert det.low is not None and det.low < det.accuracy
        assert read_survey(survey.to_json()) == survey


def test_trees_of_a_file_reach_the_summary(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    file, out = tmp_path / "trees.conllu", tmp_path / "out"
    file.write_text(CONLLU + "\n" + "\n".join([CONLLU.split("\n\n")[1]] * 20))
    command = ("survey", "en-de-small", "--data", str(file), "--out", str(out), "--device", "cpu")
    assert main(command) == 0
    survey = read_survey((out / "_survey.json").read_text())
    assert survey.n_sentences == 22
    assert {it.kind for it in survey.heads if it.syntax} == {"encoder_self"}
    assert set(survey.heads[0].syntax) == {"nsubj", "obj"}
    assert survey.heads[0].syntax["obj"].offset == -1
