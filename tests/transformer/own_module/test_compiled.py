"""Compiled parts of a module of one's own run as they were written, wherever it is watched."""

import threading
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.flex_attention import flex_attention

from tests.representatives import cases
from transformer import Checkpoint, InputError, decode, evidence, from_module, record, survey
from transformer.device import DeviceError
from transformer.watch.capture.operators import _Process, as_written
from viz.server.exploring import try_out

PIECES = [str(i) for i in range(20)]
IDS, TEXT = torch.tensor([[1, 2, 3, 4]]), "1 2 3 4"
HEAD = "head-off:decoder_self.0.1"


class Attends(nn.Module):
    """A block that runs twice, over what it gave: another pass tells its layers apart."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words, self.project = nn.Embedding(20, 8), nn.Linear(8, 24)
        self.mix, self.out = nn.Linear(8, 8), nn.Linear(8, 20)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids)
        for _ in range(2):
            heads = (each.unflatten(-1, (2, -1)) for each in self.project(x).chunk(3, -1))
            y = self.attend(*(each.transpose(1, 2) for each in heads))
            x = x + self.mix(y.transpose(1, 2).flatten(2))
        return self.out(x)  # type: ignore[no-any-return]


class Flex(Attends):
    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        def causal(score: Tensor, b: Tensor, h: Tensor, row: Tensor, column: Tensor) -> Tensor:
            return torch.where(column <= row, score, -float("inf"))

        return flex_attention(q, k, v, score_mod=causal)  # type: ignore[return-value]


class Calls(Attends):
    attend = torch.compile(Attends.attend, backend="eager")


class Decorated(Attends):
    forward = torch.compile(Attends.forward, backend="eager")


def compiled_in_place() -> nn.Module:
    module = Attends()
    module.project.compile(backend="eager")
    module.compile(backend="eager")
    return module


MODULES: dict[str, Callable[[], nn.Module]] = {
    "flex": Flex,
    "a function": Calls,
    "its forward": Decorated,
    "in place": compiled_in_place,
    "whole": lambda: torch.compile(Attends(), backend="eager"),
    "a part": lambda: nn.Sequential(torch.compile(Attends(), backend="eager")),
}
USES: dict[str, Callable[[Checkpoint], Any]] = {
    "record": lambda it: record(it, TEXT).attentions["decoder_self"].weights(0),
    "with an edit": lambda it: record(it, TEXT, edits=[HEAD]).logits,
    "evidence": lambda it: evidence(it, TEXT).hidden,
    "the prefix": lambda it: evidence(it, TEXT, [5, 6]).prefix,
    "survey": lambda it: survey(it, [TEXT]).n_sentences,
    "decode with an edit": lambda it: [
        each.id for each in decode(it, TEXT, max_len=2, edits=[HEAD]).target
    ],
    "explore": try_out,
}


def checkpoint(module: nn.Module) -> Checkpoint:
    tokenize = lambda text: [int(piece) for piece in text.split()]  # noqa: E731
    return from_module(module.eval(), tokenize, PIECES, [TEXT], writes="continuation")


@pytest.mark.parametrize(
    ("module", "use"),
    cases(
        product(MODULES, USES),
        {
            "a function of torch's that compiles itself": ("flex", "record"),
            "a function within": ("a function", "decode with an edit"),
            "hooks on modules that are compiled": ("whole", "evidence"),
            "an edited pass": ("its forward", "with an edit"),
            "as part of another": ("a part", "explore"),
            "by a method of the module": ("in place", "survey"),
        },
    ),
)
def test_it_is_as_if_nothing_were_compiled(module: str, use: str) -> None:
    wanted, result = (USES[use](checkpoint(it())) for it in (Attends, MODULES[module]))
    torch.testing.assert_close(result, wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("module", MODULES)
def test_it_is_called_after_what_was_compiled(module: str) -> None:
    assert "Optimized" not in checkpoint(MODULES[module]()).name


@pytest.mark.parametrize("module", MODULES)
def test_afterwards_it_is_compiled_again(module: str) -> None:
    """And a pass that nobody watches is compiled."""
    inner = MODULES[module]()
    given = checkpoint(inner)
    text = decode(given, TEXT, max_len=2).text
    record(given, TEXT)
    assert _Process.n_watching == 0 and stance() == "default"
    assert decode(given, TEXT, max_len=2).text == text


@pytest.mark.parametrize("module", MODULES)
def test_where_numbers_end_is_named(module: str) -> None:
    given = checkpoint(MODULES[module]())
    with torch.no_grad():
        next(it for it in given.model.modules() if isinstance(it, nn.Embedding)).weight.fill_(
            torch.nan
        )
    with pytest.raises(DeviceError, match=r"\(NaN\) at [\w.]*words for this text"):
        decode(given, TEXT)


def stance() -> str:
    return torch._dynamo.eval_frame._stance.stance  # type: ignore[attr-defined,no-any-return]


def test_who_watches_last_gives_the_stance_back() -> None:
    """Whichever of two threads ends first: the other is still within its pass."""
    enters, ends = threading.Event(), threading.Event()

    def other() -> None:
        with as_written():
            enters.set()
            ends.wait(10)

    thread = threading.Thread(target=other)
    with as_written():
        thread.start()
        enters.wait(10)
    assert stance() == "force_eager"
    ends.set()
    thread.join()
    assert stance() == "default"


def test_a_pass_that_fails_gives_it_back() -> None:
    with pytest.raises(InputError):
        record(Flex().eval(), IDS + 90)
    assert _Process.n_watching == 0 and stance() == "default"


@pytest.mark.filterwarnings("ignore")
def test_what_is_scripted_is_named_by_its_own_class() -> None:
    scripted = torch.jit.trace(Attends().eval(), IDS)
    with pytest.raises(InputError, match=r"cannot be recorded: it is scripted or traced"):
        record(checkpoint(scripted), TEXT)
    with pytest.raises(InputError, match=r"^Sequential .* 0 in it is scripted or traced"):
        record(checkpoint(nn.Sequential(scripted)), TEXT)
