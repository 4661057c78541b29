"""States between the layers of a watched module, for each word.

The layer is the module above an attention that is counted: blocks.3 of blocks.3.attn. Hooks stand
there only while a pass is edited, and only its own thread is told.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from transformer.editing.editor import Given
from transformer.watch.capture.operators import watching
from transformer.watch.kinds.kind import Kind

Tell = Callable[[str, Tensor], Tensor | None]
"""(path, what its module gives [T, D]) -> what it gives instead; None: the same."""


def layer_paths(kinds: Mapping[str, Kind]) -> dict[tuple[str, int], str]:
    """(kind, layer) -> the path of the layer's module, where paths tell it; of self-attention."""
    result = {}
    for name, kind in kinds.items():
        if kind.role != "cross" and not kind.is_softmax:
            paths = [call.place.path for call in kind.calls]
            for layer, path in enumerate(_above(paths)):
                result[name, layer] = path
    return result


def _above(paths: Sequence[str]) -> list[str]:
    """Map attentions to their layers; nothing where they are not counted, or are the layer.

    >>> _above(["dec.0.attn.0", "dec.1.attn.0"]), _above(["attn.0", "attn.1"])
    (['dec.0', 'dec.1'], [])
    """
    parts = [path.split(".") for path in paths]
    for at, column in enumerate(zip(*parts, strict=False)):
        if all(map(str.isdecimal, column)) and len(set(column)) == len(paths):
            is_above = all(len(each) > at + 1 for each in parts)
            return [".".join(each[: at + 1]) for each in parts] if is_above else []
    return []


def counted(model: nn.Module) -> list[str]:
    """Paths that may be those of layers."""
    return [path for path, _ in model.named_modules() if path.rpartition(".")[2].isdecimal()]


@contextmanager
def states_of(model: nn.Module, paths: Sequence[str], tell: Tell) -> Iterator[None]:
    """While entered, what these modules give in runs of this thread is told."""
    thread = threading.get_ident()

    def hook(path: str) -> Callable[..., Any]:
        def on_output(module: nn.Module, inputs: Any, output: Any) -> Any:
            states = output[0] if isinstance(output, tuple) and output else output
            is_sequence = isinstance(states, Tensor) and states.dim() > 1
            if threading.get_ident() != thread or not is_sequence:
                return None
            with watching(None):
                changed = tell(path, states.reshape(-1, states.size(-1)))
            if changed is None:
                return None
            changed = changed.view(states.shape)
            return (changed, *output[1:]) if isinstance(output, tuple) else changed

        return on_output

    with ExitStack() as hooks:
        for path in paths:
            handle = model.get_submodule(path).register_forward_hook(hook(path))
            hooks.callback(handle.remove)
        yield


def given_by(kinds: Mapping[str, Kind], states: Mapping[str, Tensor]) -> Given:
    """Collect what heads of a finished pass gave, where their values are understood, and layers.

    states: path -> what its module gave [T, D].
    """
    result: Given = {
        (kind, layer, "states"): states[path]
        for (kind, layer), path in layer_paths(kinds).items()
        if path in states
    }
    for name, kind in kinds.items():
        for layer, seen in enumerate(kind.calls):
            call = seen.make()
            if call.v.size(-1) and not kind.is_softmax:
                result[name, layer, "heads"] = call.heads_given()
    return result
