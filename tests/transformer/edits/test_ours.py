"""An edit of a model of ours does what it says, and nothing else."""

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.conftest import SENTENCES, random_checkpoint, tiny
from tests.representatives import cases
from tests.transformer.recording.test_families import CONFIGS, SOURCE, TARGET, each
from transformer import Checkpoint, EditError, Recording, decode, record
from transformer.editing.checking import side_read
from transformer.editing.ours import places

close = {"rtol": 0.0, "atol": 1e-6}


def target_of(checkpoint: Checkpoint) -> str | None:
    return TARGET if checkpoint.family.decodes else None


def recorded(checkpoint: Checkpoint, *edits: str) -> Recording:
    return record(checkpoint, SOURCE, target_of(checkpoint), edits=edits)


def outputs(checkpoint: Checkpoint, kind: str, *edits: str) -> list[Tensor]:
    """What each layer of a kind gave after W_O [T, D]."""
    found: list[Tensor] = []
    handles = []
    for path, module in places(checkpoint.model, checkpoint.family)[kind]:
        outer = checkpoint.model.get_submodule(path.rpartition(".")[0])
        last: Any = outer.output if isinstance(outer.output, nn.Linear) else outer
        assert module is not outer
        handles.append(last.register_forward_hook(lambda m, i, out: found.append(out[0].clone())))
    recorded(checkpoint, *edits)
    for handle in handles:
        handle.remove()
    return found


@each
def test_heads_and_bias_sum_to_the_layer(name: str) -> None:
    """All heads off leave the bias; one by one they add up: exact to a few float32 roundings."""
    checkpoint = random_checkpoint(CONFIGS[name])
    config: Any = checkpoint.config
    for kind in checkpoint.family.attentions:
        heads = [f"head-off:{kind}.0.{head}" for head in range(config.n_heads)]
        whole, nothing = outputs(checkpoint, kind)[0], outputs(checkpoint, kind, *heads)[0]
        alone = [
            outputs(checkpoint, kind, *(each for each in heads if each != head))[0] - nothing
            for head in heads
        ]
        assert float((sum(alone, nothing) - whole).abs().max()) < 2e-6
        path, _ = places(checkpoint.model, checkpoint.family)[kind][0]
        output: Any = checkpoint.model.get_submodule(path.rpartition(".")[0]).output
        bias = getattr(output, "bias", None)
        assert torch.equal(
            nothing, torch.zeros_like(nothing) if bias is None else bias + 0 * nothing
        )


@each
def test_a_head_off_is_its_rows_of_the_output_matrix_set_to_zero(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    config: Any = checkpoint.config
    for kind in checkpoint.family.attentions:
        layer, head = 0, config.n_heads - 1
        by_hand = random_checkpoint(CONFIGS[name])
        path, _ = places(by_hand.model, by_hand.family)[kind][layer]
        output: Any = by_hand.model.get_submodule(path.rpartition(".")[0]).output
        if not isinstance(output, nn.Linear):
            continue
        d = config.d_head_value
        with torch.no_grad():
            output.weight[:, head * d : (head + 1) * d] = 0
        edited = recorded(checkpoint, f"head-off:{kind}.{layer}.{head}")
        torch.testing.assert_close(edited.logits, recorded(by_hand).logits, **close)
        assert edited.checked.is_right and (edited.checked.error or 0) < 1e-5


@each
def test_a_factor_of_one_changes_no_bit(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    plain = recorded(checkpoint).logits
    for kind in checkpoint.family.attentions:
        ones = (f"head-scale:{kind}.0.0=1", f"arrow-scale:{kind}.0.0.1.0=1")
        assert torch.equal(recorded(checkpoint, *ones).logits, plain)
    if checkpoint.config.positions != "none":
        (side, *_) = checkpoint.family.forced_pass(checkpoint.config, [3], [4]).embedded
        assert torch.equal(recorded(checkpoint, f"positions-scale:{side}=1").logits, plain)
        assert torch.equal(recorded(checkpoint, f"positions-shift:{side}=0").logits, plain)


@each
def test_a_cut_closes_one_cell_and_its_row_sums_to_one(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    plain = recorded(checkpoint)
    for kind, before in plain.attentions.items():
        layer = before.n_layers - 1
        after = recorded(checkpoint, f"cut:{kind}.{layer}.0.2.1").attentions[kind]
        row, old = after.weights(layer, 0)[2], before.weights(layer, 0)[2]
        assert float(row[1]) == 0 and float(row.sum()) == pytest.approx(1, abs=1e-6)
        kept = old.clone()
        kept[1] = 0
        torch.testing.assert_close(row, kept / kept.sum(), **close)
        others = [i for i in range(len(before.queries)) if i != 2]
        assert torch.equal(after.weights(layer, 0)[others], before.weights(layer, 0)[others])
        assert torch.equal(after.weights(layer)[1:], before.weights(layer)[1:])
        assert not after.allowed(layer, 0)[2, 1] and before.allowed(layer, 0)[2, 1]


@each
def test_runs_differ_from_the_edited_layer_on_only(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    plain = recorded(checkpoint)
    for kind, before in plain.attentions.items():
        if before.n_layers == 1:
            continue
        after = recorded(checkpoint, f"head-off:{kind}.1.0").attentions[kind]
        for layer in range(2):
            assert torch.equal(after.weights(layer), before.weights(layer))
        early = recorded(checkpoint, f"head-off:{kind}.0.0").attentions[kind]
        assert torch.equal(early.weights(0), before.weights(0))
        assert not torch.equal(early.weights(1), before.weights(1))


def test_what_each_edit_of_weights_makes_of_them() -> None:
    """Scaled: log alpha on the score (test vector: scores 1, 2, .5, alpha .01)."""
    scores = torch.tensor([1.0, 2.0, 0.5])
    scores[0] += math.log(0.01)
    assert scores.softmax(-1).tolist() == pytest.approx([0.0029987, 0.8151228, 0.1818785], abs=1e-6)
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    old = recorded(checkpoint).attentions["decoder_self"].weights(1, 0)  # [3, 3], causal

    def new(edit: str) -> Tensor:
        return recorded(checkpoint, edit).attentions["decoder_self"].weights(1, 0)

    row = old[2] * torch.tensor([1.0, 0.01, 1.0])
    torch.testing.assert_close(
        new("arrow-scale:decoder_self.1.0.2.1=0.01")[2], row / row.sum(), **close
    )
    others = torch.full((3,), 0.01)
    others[1] = 1
    rows = old * others
    torch.testing.assert_close(
        new("emphasise:decoder_self.1.0=0.01,1"), rows / rows.sum(-1, keepdim=True), **close
    )
    uniform = [[1, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3]
    torch.testing.assert_close(new("head-uniform:decoder_self.1.0"), torch.tensor(uniform), **close)
    before = torch.tensor([[1.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert torch.equal(new("head-previous:decoder_self.1.0"), before)
    forced = new("row-force:decoder_self.1.0.1=3,1,7")  # the last key is masked
    torch.testing.assert_close(forced[1], torch.tensor([0.75, 0.25, 0.0]), **close)
    assert torch.equal(forced[2], old[2])


STEP_BY_STEP = (
    *("head-off:decoder_self.0.1", "head-scale:decoder_self.1.0=3"),
    *("cut:decoder_self.0.0.3.1", "head-previous:decoder_self.0.0"),
    *("head-uniform:decoder_self.1.1", "emphasise:decoder_self.0.0=0.1,2,4"),
    *("row-force:decoder_self.0.1.3=1,2,3", "arrow-scale:decoder_self.1.1.4.0=9"),
    *("positions-zero:SIDE", "positions-shift:SIDE=2", "positions-swap:SIDE=1,3"),
    "positions-permute:SIDE=3,1,0,2",
)
METHODS = ("greedy", "beam", "sample")
FEW_STEPS = {
    **{f"{it}, two sides": ("post-norm", it, "greedy") for it in STEP_BY_STEP},
    **{f"{it}, one": ("gpt2", it, "greedy") for it in STEP_BY_STEP},
    **{f"kept keys, {it}": ("post-norm", STEP_BY_STEP[2], it) for it in METHODS},
    **{f"positions, {it}": ("gpt2", STEP_BY_STEP[-1], it) for it in METHODS},
}
"""Each edit while each family writes; a method has a say in which rows are kept."""


@pytest.mark.parametrize(
    ("name", "edit", "method"),
    cases(product(("post-norm", "gpt2"), STEP_BY_STEP, METHODS), FEW_STEPS),
)
def test_steps_are_those_of_the_forced_pass(name: str, edit: str, method: str) -> None:
    """Keys that were kept from earlier steps are those of the edited words."""
    checkpoint = random_checkpoint(CONFIGS[name])
    side = "target" if name == "post-norm" else "text"
    edits = [edit.replace("SIDE", side)]
    edits += ["head-off:cross.0.0", "cut:cross.1.1.2.0"] if side == "target" else []
    decoding = decode(checkpoint, SOURCE, method, max_len=6, edits=edits)
    if len(decoding.target) < 4 and side == "target":
        return  # it ended before the words that the edit is of
    logits = record(checkpoint, SOURCE, decoding.target, edits=edits).logits
    torch.testing.assert_close(
        logits.log_softmax(-1), decoding.hypotheses[0].log_probs, rtol=0.0, atol=2e-5
    )
    forced = decode(checkpoint, SOURCE, "forced", target=decoding.target, edits=edits)
    torch.testing.assert_close(
        logits.log_softmax(-1), forced.hypotheses[0].log_probs, rtol=0.0, atol=2e-5
    )


def test_threads_on_one_model_do_not_mix(text_checkpoint: Checkpoint) -> None:
    """500 runs at once on one model, half of them edited in one of five ways."""
    edits = (
        *("head-off:cross.1.0", "cut:encoder_self.0.1.2.3", "positions-shift:source=2"),
        *("head-uniform:decoder_self.1.2", "positions-zero:target"),
    )
    wanted = {
        edit: record(text_checkpoint, SENTENCES[0], SENTENCES[50], edits=[edit]).logits
        for edit in edits
    }
    plain = record(text_checkpoint, SENTENCES[0], SENTENCES[50]).logits
    assert len({float(logits.sum()) for logits in (plain, *wanted.values())}) == 6

    def right(i: int) -> bool:
        edit = edits[i // 2 % 5] if i % 2 else None
        given = record(
            text_checkpoint, SENTENCES[0], SENTENCES[50], edits=[edit] if edit else []
        ).logits
        return torch.equal(given, wanted[edit] if edit else plain)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(right, range(500)))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("head-off:cross.2.0", "no layer 2 here; cross has 2, counted from 0."),
        ("head-off:cross.0.9", "no head 9 here; cross has 4, counted from 0."),
        ("cut:cross.0.0.99.0", "no query 99 here; cross has "),
        ("cut:cross.0.0.0.99", "no key 99 here; cross has "),
        ("emphasise:cross.0.0=0.1,99", "no key 99 here; cross has "),
        ("head-off:vision.0.0", "no 'vision' here; this model's attentions are encoder_self, "),
        ("positions-zero:text", "no 'text' here; this model's positions are added to source, "),
        ("positions-swap:source=0,99", "no word 99 here; the source has "),
        ("words-swap:source=0,99", "no token 99 here; the source has "),
        ("words-swap:target=0,1", "the words that this model reads are its source."),
        ("positions-shift:source=63", "would stand at position 64, and this model has positions"),
        ("positions-shift:source=-1", "word 0 would stand at position -1"),
        ("cut:decoder_self.0.0.0.0", "leaves query 0 no key to look at."),
        ("head-previous:cross.0.0", "queries and keys of cross are not the same words."),
        ("rotary-base:source=7", "this model turns no queries"),
        ("bias-off:cross", "this model adds no bias"),
        ("nonsense", "There is no edit 'nonsense'"),
    ],
)
def test_an_edit_of_what_is_not_there_is_refused(
    text_checkpoint: Checkpoint, edit: str, said: str
) -> None:
    with pytest.raises(EditError) as refusal:
        record(text_checkpoint, SENTENCES[0], SENTENCES[50], edits=[edit])
    assert said in str(refusal.value)
    if "99.0" not in edit:  # while a text is written, nobody knows how long it will be
        with pytest.raises(EditError):
            decode(text_checkpoint, SENTENCES[0], edits=[edit])


def test_positions_are_what_an_encoder_tells_words_apart_by() -> None:
    """Without them, permuting the words permutes the outputs; with them it does not."""
    checkpoint = random_checkpoint(CONFIGS["former-classifier"])
    states: list[Tensor] = []
    checkpoint.model.encoder.register_forward_hook(lambda m, i, out: states.append(out[0]))
    order = [2, 0, 4, 1, 3]
    moved = " ".join(SOURCE.split()[i] for i in order)
    for edits, is_same in ((("positions-zero:text",), True), ((), False)):
        states.clear()
        for text in (SOURCE, moved):
            record(checkpoint, text, edits=edits)
        far = float((states[0][order] - states[1]).abs().max())
        assert (far < 1e-5) is is_same


def test_a_swap_of_positions_is_a_permutation_of_encodings(text_checkpoint: Checkpoint) -> None:
    def encodings(edit: str) -> Tensor:
        edits = [edit] if edit else []
        recording = record(text_checkpoint, SENTENCES[0], SENTENCES[50], edits=edits)
        side = recording.positions["source"]
        assert torch.equal(side.sum, side.embeddings + side.encodings)
        return side.encodings

    plain = encodings("")
    order = list(range(len(plain)))
    order[2], order[5] = 5, 2
    assert torch.equal(encodings("positions-swap:source=2,5"), plain[order])
    listed = ",".join(map(str, order[:6]))
    assert torch.equal(encodings(f"positions-permute:source={listed}"), plain[order])
    assert torch.equal(encodings("positions-shift:source=1")[:-1], plain[1:])
    assert torch.equal(encodings("positions-scale:source=0.5"), plain * 0.5)
    assert not encodings("positions-zero:source").any()


def test_swaps_of_positions_that_overlap_happen_one_after_the_other(
    text_checkpoint: Checkpoint,
) -> None:
    """The second one moves whoever stands at its two positions by then; in one order or another."""

    def encodings(*edits: str) -> Tensor:
        recording = record(text_checkpoint, SENTENCES[0], SENTENCES[50], edits=edits)
        return recording.positions["source"].encodings

    plain, swaps = encodings(), ("positions-swap:source=2,5", "positions-swap:source=5,4")
    for edits, moved in ((swaps, {2: 4, 4: 5, 5: 2}), (swaps[::-1], {2: 5, 4: 2, 5: 4})):
        order = [moved.get(word, word) for word in range(len(plain))]
        assert torch.equal(encodings(*edits), plain[order])
    assert torch.equal(encodings(swaps[0], swaps[0]), plain)


@each
def test_words_that_are_swapped_are_those_of_the_text_with_both_exchanged(name: str) -> None:
    """Swapped twice they are the text itself; where nothing stands in an order, only rows move."""
    checkpoint = random_checkpoint(CONFIGS[name])
    words = SOURCE.split()
    words[1], words[3] = words[3], words[1]
    swap = f"words-swap:{side_read(checkpoint)}=1,3"
    plain, edited = recorded(checkpoint), recorded(checkpoint, swap)
    entered = record(checkpoint, " ".join(words), target_of(checkpoint))
    assert [token.piece for token in edited.source][: len(words)] == words
    torch.testing.assert_close(edited.logits, entered.logits, **close)
    assert not torch.equal(edited.logits, plain.logits) or checkpoint.config.positions == "none"
    assert torch.equal(recorded(checkpoint, swap, swap).logits, plain.logits)
    if checkpoint.family.decodes:
        by_edit, by_hand = (
            decode(checkpoint, text, "beam", max_len=6, edits=edits)
            for text, edits in ((SOURCE, [swap]), (" ".join(words), []))
        )
        assert by_edit.text == by_hand.text and by_edit.source == by_hand.source


def test_words_that_take_their_positions_along_are_the_same_to_an_encoder(
    text_checkpoint: Checkpoint,
) -> None:
    """Swapped with their positions they are the same words in the same places; alone they are not.

    A swap of words and one of positions make the same vectors, of which other rows are which.
    """
    swaps = ("words-swap:source=2,5", "positions-swap:source=2,5")
    plain, words, positions, both = (
        record(text_checkpoint, SENTENCES[0], SENTENCES[50], edits=edits).logits
        for edits in ((), swaps[:1], swaps[1:], swaps)
    )
    torch.testing.assert_close(both, plain, rtol=0.0, atol=1e-5)
    torch.testing.assert_close(words, positions, rtol=0.0, atol=1e-5)
    assert float((words - plain).abs().max()) > 1e-3


def test_a_table_of_positions_knows_where_words_stand(text_checkpoint: Checkpoint) -> None:
    """A shift of all words changes weights: of fixed encodings here, of learned ones in GPT-2."""
    learned = random_checkpoint(tiny(CONFIGS["gpt2"], max_len=24))
    for checkpoint, side, given in (
        (text_checkpoint, "source", (SENTENCES[0], SENTENCES[50])),
        (learned, "text", (SOURCE, TARGET)),
    ):
        plain, moved = (
            record(checkpoint, *given, edits=edits)
            for edits in ((), (f"positions-shift:{side}=3",))
        )
        kind = next(iter(plain.attentions))
        far = (plain.attentions[kind].weights(0) - moved.attentions[kind].weights(0)).abs().max()
        assert float(far) > 1e-4


@pytest.mark.thorough
def test_copying_needs_positions(copy_checkpoint: Checkpoint) -> None:
    """Of mixed positions the model that has learned to copy writes their order, not the text's.

    So it is right by chance only: where the word that stands at a position happens to be the same.
    """
    generator = torch.Generator().manual_seed(0)
    right = {"plain": 0, "mixed": 0}
    total, n_followed, n_same = 0, 0, 0
    for _ in range(20):
        words = torch.randint(3, 9, (4,), generator=generator).tolist()
        text = " ".join(map(str, words))
        n = len(record(copy_checkpoint, text, text).source)
        order = [*torch.randperm(4, generator=generator).tolist(), *range(4, n)]
        mixed = ",".join(map(str, order))
        at = [words[order.index(place)] for place in range(4)]  # what stands at each position
        total += 4
        n_same += sum(a == b for a, b in zip(words, at, strict=True))
        for name, edits in (("plain", ()), ("mixed", (f"positions-permute:source={mixed}",))):
            written = [token.id for token in decode(copy_checkpoint, text, edits=edits).target][:4]
            right[name] += sum(a == b for a, b in zip(words, written, strict=False))
            n_followed += name == "mixed" and sum(a == b for a, b in zip(at, written, strict=False))
    assert right["plain"] > 0.9 * total
    assert n_followed > 0.9 * total
    assert n_same < 0.6 * total
    assert right["mixed"] < 0.6 * total
