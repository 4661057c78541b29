"""Recordings of bare arrays in whatever takes a recording: each gives something, or one sentence.

Views, lenses, metrics, pictures and exports are found by their registries and by their signatures,
so that a new one is tried without a line here.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import transformer
import viz
from tests.representatives import cases
from transformer import Recording, from_weights
from transformer.analysis.metrics.metrics import measure
from transformer.analysis.reading import Reading, Selection, lenses, read
from transformer.corpus.batches import of_recording
from transformer.corpus.questions import ask
from transformer.discover import discover
from transformer.refusal import Refusal
from viz import head_grid, head_map, head_view
from viz.components.head_map.head_map import HeadMap
from viz.components.kit.browser import unpack
from viz.export import attention_csv
from viz.notebook.figures import figure
from viz.sentence import sentence, wording
from viz.theme import LIGHT
from viz.views.view import View

torch.manual_seed(1)
L, H, G, S, T, D = 2, 4, 2, 5, 4, 6
SOURCE, TARGET = ["▁It", "▁ra", "ins", ".", "</s>"], ["<s>", "▁Es", "▁regnet", "."]
SIZES = {"encoder_self": (S, S), "decoder_self": (T, T), "cross": (T, S)}


def weights(n_queries: int, n_keys: int) -> Any:
    return torch.rand(L, H, n_queries, n_keys).softmax(-1).numpy()


def of_parts(n_queries: int, n_keys: int) -> dict[str, Any]:
    of_keys = torch.rand(L, G, n_keys, D)
    return {"q": torch.rand(L, H, n_queries, D), "k": of_keys, "v": of_keys}


def steps() -> Any:
    """As `generate` gives them: a prompt of two tokens, and two that were written."""
    each = [torch.rand(1, H, n, k).softmax(-1) for n, k in ((2, 2), (1, 3), (1, 4))]
    return {"attentions": tuple((step, step) for step in each)}


def recordings() -> Iterator[tuple[str, Recording]]:
    for kind, sizes in SIZES.items():
        texts = {"queries": SOURCE if kind == "encoder_self" else TARGET}
        texts |= {"keys": SOURCE} if kind == "cross" else {}
        yield f"weights of {kind}", from_weights({kind: weights(*sizes)}, **texts)
        yield f"q, k and v of {kind}", from_weights({kind: of_parts(*sizes)}, **texts)
        yield f"weights of {kind} without tokens", from_weights({kind: weights(*sizes)})
    every = {kind: weights(*sizes) for kind, sizes in SIZES.items()}
    yield "a translator", from_weights(every, queries=TARGET, keys=SOURCE)
    yield "a generator", from_weights(steps(), queries=[*TARGET, "</s>"])
    yield "more than 1", from_weights({"cross": 3 * every["cross"]})
    yield "nothing", from_weights({"encoder_self": 0 * every["encoder_self"]})
    yield "one token", from_weights({"encoder_self": torch.ones(1, 1, 1, 1)})


RECORDINGS = dict(recordings())
FEW = {
    "weights": "weights of cross",
    "q, k and v of fewer heads": "q, k and v of encoder_self",
    "numbers for tokens": "weights of decoder_self without tokens",
    "several kinds": "a translator",
    "what was written": "a generator",
    "a row that reads nothing": "nothing",
}
bare = pytest.mark.parametrize("name", cases(RECORDINGS, FEW))
readings = [Reading(lens) for lens in lenses()]
readings += [Reading(words=True), Reading(rows="read"), Reading(special="hidden")]
readings += [Reading(special="renormalised", words=True)]


def tried(call: Callable[[], Any]) -> Any:
    """What it gives, or None where it says in a sentence that it gives nothing."""
    with suppress(Refusal):
        return call()


@bare
def test_every_view_lens_metric_and_picture(name: str) -> None:
    recording = RECORDINGS[name]
    views: dict[str, View] = discover("viz.views", "VIEW")
    fitting = [each for each, view in views.items() if view.applies_to(recording)]
    assert "head_heatmap" in fitting
    for each in fitting:
        tried(lambda each=each: figure(recording, each))
    for kind, attention in recording.attentions.items():
        for reading in readings:
            for draw in (head_view, head_map, head_grid):
                tried(lambda draw=draw, it=reading, of=kind: draw(recording, of, lens=it))
        assert head_map(recording, kind).html and head_view(recording, kind).html
        numbers = measure(attention, 0)
        for metric, of in numbers.items():
            assert of.shape == (attention.n_heads,)
            assert head_grid(recording, kind, show=metric, sort=metric).html
        assert attention_csv(attention, 0, 0).count(b"\n") == 1 + attention.n_cells // (
            attention.n_layers * attention.n_heads
        )


LEFT = {
    "transformer.analysis.lenses": "by `read`, which asks whether they apply",
    "viz.views": "by `figure`, which asks the same",
    "viz.notebook": "above",
    "viz.lessons.subject": "of a lesson's rules, which are of a checkpoint's recording",
}
"""Modules whose functions are tried in another way."""


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not each.name.endswith("__main__") and not each.name.startswith(tuple(LEFT)):
            yield importlib.import_module(each.name)


def arguments(recording: Recording) -> dict[str, Any]:
    """What functions that take a recording ask for beside it, by their names of it."""
    kind, attention = next(iter(recording.attentions.items()))
    return {
        "recording": recording,
        "recordings": {"a text": recording, "the same": recording},
        **dict.fromkeys(("plain", "before", "after", "first", "second", "final"), recording),
        **{"kind": kind, "layer": 0, "head": 0, "query": 0, "key": 0, "step": 0, "position": 0},
        "reading": Reading(),
        "selection": Selection(kind, 0, 0),
        "default": Selection(kind, 0, 0),
        "words": recording.target_words and [word.positions for word in recording.target_words],
        "word": 0,
        "written": recording.target,
        "pattern": ask("who looks at the previous word?"),
        "attention": attention,
        "theme": LIGHT,
        "row": "last",
    }


def functions() -> dict[str, tuple[Callable[..., Any], list[str]]]:
    """Whatever takes a recording, and what else can be given to it."""
    names = arguments(RECORDINGS["a translator"])
    found = {}
    for package in (transformer, viz):
        for module in modules(package):
            for name, each in vars(module).items():
                is_here = inspect.isfunction(each) and each.__module__ == module.__name__
                if not is_here or name.startswith("_"):
                    continue
                parameters = inspect.signature(each).parameters.values()
                needs = [it.name for it in parameters if it.default is it.empty]
                if "Recording" in str(inspect.signature(each)) and {*needs} <= {*names}:
                    found[f"{module.__name__}.{name}"] = each, needs
    return found


FUNCTIONS = functions()


def test_functions_are_found_by_their_signatures() -> None:
    assert len(FUNCTIONS) > 40
    assert {"viz.export.recording_npz", "transformer.corpus.ask.answers"} <= {*FUNCTIONS}


@bare
def test_whatever_takes_a_recording(name: str) -> None:
    recording = RECORDINGS[name]
    assert repr(recording) and recording.checked.is_right is None
    assert len(of_recording(recording)) == len(recording.attentions)
    given = arguments(recording)
    faults = []
    for path, (function, needs) in FUNCTIONS.items():
        try:
            tried(lambda of=function, its=needs: list_of(of(**{it: given[it] for it in its})))
        except Exception as error:
            faults.append(f"{path}: {error!r}")
    assert not faults


def list_of(value: Any) -> Any:
    """A generator runs when it is asked."""
    return list(value) if inspect.isgenerator(value) else value


def test_a_figure_for_a_paper(tmp_path: Path) -> None:
    recording = RECORDINGS["a translator"]
    for draw in (head_view, head_map, head_grid):
        file = draw(recording, "cross").save(tmp_path / "a.svg")
        assert b"regnet" in file.read_bytes() or draw is head_grid


@pytest.mark.parametrize("start", [[], ["<s>"]])
@pytest.mark.parametrize("kinds", [["cross"], [*SIZES]])
def test_rows_are_named_by_what_they_wrote_if_the_start_is_given(
    kinds: list[str], start: list[str]
) -> None:
    wrote = ["Es", "regnet", ".", "</s>"]
    every = {kind: weights(*SIZES[kind]) for kind in kinds}
    recording = from_weights(every, queries=[*start, *wrote], keys=SOURCE)
    assert [token.piece for token in recording.target] == wrote
    map = read(recording, "cross", Reading())
    assert [token.piece for token in map.rows] == wrote
    header, _ = unpack(HeadMap(Selection("cross", 0, 0)).payload(recording))
    lead = sentence(wording(map), map.rows[0], map.columns[0], 0, 0, 0.5).partition(",")[0]
    expected = (
        ("writing (query)", "While writing Es")
        if start
        else ("reading (query)", "After reading Es")
    )
    assert (header["titles"][0], lead) == expected


def test_only_what_writes_takes_one_token_more() -> None:
    (own,) = from_weights(
        {"decoder_self": weights(T, T)}, queries=[*TARGET, "x"]
    ).attentions.values()
    assert own.produced is not None and [it.piece for it in own.produced] == [*TARGET[1:], "x"]
    for kind, sizes in {"encoder_self": (S, S), "decoder_self": (2, S)}.items():
        n = sizes[0] if kind == "encoder_self" else sizes[1]
        with pytest.raises(Refusal):
            from_weights({kind: weights(*sizes)}, queries=["a"] * (n + 1))


def test_what_is_not_known_is_refused_in_a_sentence() -> None:
    recording = RECORDINGS["weights of cross"]
    for lens in ("score", "value_norm", "sum_norm"):
        with pytest.raises(Refusal):
            read(recording, "cross", Reading(lens))
    with pytest.raises(Refusal):
        recording.require_logits()
