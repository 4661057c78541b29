"""The choice of the library's class for a folder's tensors: by what is there."""

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.files.foreign_text import clean, some_of, whole_text
from transformer.files.tensors import Stored, TensorSource
from transformer.hugging_face.failure import in_a_sentence
from transformer.hugging_face.kinds import only_looks_causal
from transformer.hugging_face.loading import FILES
from transformer.hugging_face.skeleton import Skeleton, build_skeleton

# The choice of the library's class for a folder's tensors: by what is there, not by a text.

HEADS = (
    *("MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING", "MODEL_FOR_CAUSAL_LM_MAPPING"),
    *("MODEL_FOR_MASKED_LM_MAPPING", "MODEL_FOR_PRETRAINING_MAPPING"),
    *("MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING", "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING"),
    *("MODEL_FOR_QUESTION_ANSWERING_MAPPING", "MODEL_FOR_MULTIPLE_CHOICE_MAPPING"),
    *("MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING", "MODEL_FOR_TEXT_ENCODING_MAPPING"),
)
"""The library's tables of classes with a head, by what it is for; the first that fits is taken."""


def choose(path: Path, config: Any, stored: Mapping[str, Stored]) -> tuple[Skeleton, str]:
    """The class that the tensors fit, without values; and why it is not the one that is named.

    A class that `architectures` names is taken at its word, unless it has no head: then, and where
    the library knows none of the names, the head is the one whose tensors are there. So it is where
    the class is of another type than `model_type`, as long as that type has one that fits. Empty:
    it is the one that is named. Raises CheckpointError.
    """
    named = named_class(config)
    if named is None or isinstance(config, named.config_class or object):
        return _of_type(path, config, stored, named)
    with suppress(CheckpointError):
        skeleton, why = _of_type(path, config, stored, None)
        if not (skeleton.fit.missing or skeleton.fit.misfits):
            return skeleton, why
    return build_skeleton(path, named, config, stored), ""


def _of_type(
    path: Path, config: Any, stored: Mapping[str, Stored], named: Any
) -> tuple[Skeleton, str]:
    """Choose among the classes of its type. named: one of them; None: none is named."""
    base = _base_class(path, config, named)
    if named is not None and named is not base:
        return build_skeleton(path, named, config, stored), ""
    assert base is not None
    plain = build_skeleton(path, base, config, stored)
    for skeleton in _fitting(path, config, stored, plain):
        taken = plain.fit.unexpected - skeleton.fit.unexpected
        return skeleton, _why(config, named, type(skeleton.model).__name__, taken)
    return plain, "" if named else _why(config, named, base.__name__, ())


def named_class(config: Any) -> Any:
    """The first class of the library among those that the folder says; None where it says none."""
    import transformers

    for name in said_classes(config):
        cls = getattr(transformers, name, None)
        # And nothing else that the library has under a name.
        if isinstance(cls, type) and issubclass(cls, transformers.PreTrainedModel):
            return cls
    return None


def said_classes(config: Any) -> list[str]:
    """The names of classes that a folder was saved with."""
    names = config.architectures
    return [whole_text(each) for each in names if isinstance(each, str)] if _is_list(names) else []


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _base_class(path: Path, config: Any, named: Any) -> Any:
    """The class of this type without a head; None where there is none and one is named."""
    with in_a_sentence(path, CONFIG):
        import transformers

        mapping = transformers.models.auto.modeling_auto.MODEL_MAPPING
        if type(config) not in mapping:
            if named is not None:
                return None
            return mapping[type(config)]  # raises what is told
        result = mapping[type(config)]
        classes = result if isinstance(result, tuple) else (result,)
        return named if named in classes else classes[0]


def _fitting(
    path: Path, config: Any, stored: Mapping[str, Stored], plain: Skeleton
) -> Iterator[Skeleton]:
    """Classes with a head whose tensors are all there, the one that leaves the fewest first."""
    prefix = f"{plain.model.base_model_prefix}."
    was_inside = len(prefix) > 1 and any(name.startswith(prefix) for name in stored)
    may_be_tied = was_inside or config.is_encoder_decoder
    if not plain.fit.unexpected and not may_be_tied:
        return
    fitting = []
    for cls in _classes_with_a_head(config):
        try:
            skeleton = build_skeleton(path, cls, copy.deepcopy(config), stored)
        except CheckpointError:
            continue
        n_left = len(skeleton.fit.unexpected)
        takes_more = n_left < len(plain.fit.unexpected)
        if skeleton.fit.missing or skeleton.fit.misfits or not (takes_more or may_be_tied):
            continue
        is_other = not _ends_alike(config, cls.__name__)
        fitting.append((n_left, is_other, only_looks_causal(skeleton.model), skeleton))
    for each in sorted(fitting, key=lambda each: each[:3]):
        yield each[3]


def _classes_with_a_head(config: Any) -> Iterator[Any]:
    import transformers

    kinds, seen = transformers.models.auto.modeling_auto, set()
    for name in HEADS:
        mapping = getattr(kinds, name)
        classes = mapping.get(type(config), ())
        for cls in classes if isinstance(classes, tuple) else (classes,):
            if cls not in seen:
                seen.add(cls)
                yield cls


def _ends_alike(config: Any, name: str) -> bool:
    """Tell whether a stranger's class is called after this one: MyBertForSequenceClassification."""
    head = name[name.find("For") :] if "For" in name else name[-len("LMHeadModel") :]
    return any(class_name.endswith(head) for class_name in said_classes(config))


def _why(config: Any, named: Any, name: str, taken: Iterable[str]) -> str:
    names = some_of(map(clean, said_classes(config)), 2)
    if named is not None:
        begin = f"{CONFIG} names {named.__name__}, which has no head"
    elif names and named_class(config):
        begin = f"{CONFIG} names {names}, and its model_type {config.model_type}"
    elif names:
        begin = f"{CONFIG} names {names}, which the library does not know"
    else:
        begin = f"{CONFIG} names no class"
    held = sorted(taken)
    if held:
        return f"{begin}: opened as {name}, which also takes {some_of(held, 3)}."
    if named is not None:
        return f"{begin}: opened as {name}, whose output is the matrix of its embeddings."
    return f"{begin}: opened as {name}, which its tensors fit."


# Weights that would open as another model than they are, and are refused by name instead.

FLOATS = ("F64", "F32", "F16", "BF16")
NAMED = 3
LORA = re.compile(
    r"(^|[._])(lora|ia3|loha|lokr|hada|vera|oft|boft|dora|adalora|adapters?|prompt_encoder|"
    r"prefix_encoder|prompt_embeddings|base_layer|modules_to_save)([._]|$)",
    re.IGNORECASE,
)
"""Parts of names that PEFT and code like it give what is trained beside a model."""
QUANTISED = re.compile(
    r"(scales?|scale_inv|zero_points?|zeros|absmax|quant_\w+|quantizer\w*|\w*amax|qweight|g_idx|"
    r"SCBs?|codes|codebooks?|packed|weight_shape|blocks|smooth_factor)$"
)
"""Endings of the names of tensors that stand beside weights in few bits."""
OF_NO_EFFECT = re.compile(
    r"(inv_freq|rotary_\w+\.\w+|\w+_cached|\w+_mask|masked_bias|position_ids|num_batches_tracked)$"
)
"""Endings of tables and masks that older code saved within its layers, and classes make anew."""
IN_A_LAYER = re.compile(r"(^|\.)\d+($|\.)")
SCHEMES = ("hf_quant_config.json", "quantize_config.json", "quant_config.json")
"""Files beside the weights that say how they were quantised."""


def scheme_of(path: Path, config: Any) -> str:
    """Name the way the weights are quantised, by config.json or a file beside it; or ""."""
    settings = getattr(config, "quantization_config", None)
    if isinstance(getattr(config, "quantization", None), dict):
        return "MLX"
    if isinstance(settings, dict):
        usual = (
            "bitsandbytes" if any(name.startswith("load_in") for name in settings) else "unnamed"
        )
        return clean(settings.get("quant_method") or usual, 40)
    if settings:
        return clean(getattr(settings, "quant_method", "unnamed"), 40)
    return next((name for name in SCHEMES if (path / name).is_file()), "")


def require_parts(path: Path, source: TensorSource) -> None:
    """Every file that its weights are in can be read. Raises CheckpointError."""
    for file, why in source.faults.items():
        if file.endswith(FILES):
            raise CheckpointError(f"{path.name}: {file} {why}.")


def require_plain(path: Path, config: Any, skeleton: Skeleton, source: TensorSource) -> None:
    """Nothing but the numbers of this class, as they are. Raises CheckpointError."""
    fit, scheme = skeleton.fit, scheme_of(path, config)
    beside = sorted(fit.unexpected)
    adapted = [name for name in beside if LORA.search(name)]
    if adapted:
        raise CheckpointError(
            f"{path.name}: {some_of(adapted, NAMED)} {_are(adapted)} of an adapter (LoRA or the "
            "like), which is kept in the same file and not applied: save the model after "
            "merge_and_unload()."
        )
    taken = [name for name in source.stored if name not in fit.unexpected | fit.uncounted]
    whole = [name for name in taken if source.stored[name].dtype not in FLOATS]
    scales = [name for name in beside if QUANTISED.search(name)]
    if whole or scales:
        kind = f" ({source.stored[whole[0]].dtype})" if whole else ""
        by = f" by {scheme}" if scheme else ", and nothing says how"
        raise CheckpointError(
            f"{path.name}: its weights are quantised{by}: {some_of(whole or scales, NAMED)}{kind}. "
            "That is not undone here: save the model in floating point, after model.dequantize()."
        )
    for name in (each for each in beside if _is_inside(skeleton, source.stored[each])):
        (values,) = source.read(name)
        if bool((values != 0).any()):
            raise CheckpointError(
                f"{path.name}: {clean(name)} belongs to a part that {_class(skeleton)} has without "
                "it, so that this part would compute something else."
            )


def require_fit(path: Path, config: Any, skeleton: Skeleton, source: TensorSource) -> None:
    """Every tensor that the class asks for, in its shape. Raises CheckpointError."""
    fit, scheme = skeleton.fit, scheme_of(path, config)
    asked_by = ""
    if getattr(config, "pruned_heads", None):
        asked_by = "; its pruned_heads are not followed here"
    elif scheme:
        asked_by = f"; it was quantised by {scheme}, which is not undone here"
    for name, shape in sorted(fit.misfits.items()):
        stored = list(source.stored[name].shape)
        raise CheckpointError(
            f"{path.name}: {clean(name)} is {stored} in the weights, and {CONFIG} asks for "
            f"{list(shape)}{asked_by}."
        )
    missing = [name for name in sorted(fit.missing) if not _is_unused(skeleton, name)]
    if missing:
        is_none_taken = fit.unexpected | fit.uncounted >= source.stored.keys()
        begins = _common(source.stored) if is_none_taken else ""
        prefix = f"; all that it holds begins with {begins!r}" if begins else ""
        raise CheckpointError(
            f"{path.name}: the weights lack {some_of(missing, 3)}{asked_by}{prefix}"
            f"{_untied(skeleton, missing)}."
        )


def _untied(skeleton: Skeleton, missing: list[str]) -> str:
    """Say how the matrix of a model's output may be there all the same: it is its embeddings'."""
    output = skeleton.model.get_output_embeddings()
    names = {name for name, module in skeleton.model.named_modules() if module is output}
    if output is None or {name.rpartition(".")[0] for name in missing} - names:
        return ""
    return (
        f"; where that is the matrix of its embeddings, {CONFIG} should say tie_word_embeddings "
        "true"
    )


def unread_poolers(skeleton: Skeleton) -> list[str]:
    """List what the class asks for and the weights lack, and nothing here reads."""
    return [name for name in sorted(skeleton.fit.missing) if _is_unused(skeleton, name)]


def _is_unused(skeleton: Skeleton, name: str) -> bool:
    """A pooler of a model without a head: only its last hidden states are looked at."""
    has_head = _class(skeleton).find("For") > 0
    return ".pooler." in f".{name}" and not has_head


def _is_inside(skeleton: Skeleton, tensor: Stored) -> bool:
    """Tell whether a tensor that nothing takes is of what runs: of a layer, a matrix or a norm."""
    if OF_NO_EFFECT.search(tensor.name) or tensor.shape[:2] == (1, 1):  # the latter are masks
        return False
    modules = dict(skeleton.model.named_modules())
    parts = tensor.name.split(".")[:-1]
    for start in ("", f"{skeleton.model.base_model_prefix}."):
        paths = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
        path = next((path for path in paths if start + path in modules), None)
        if path is not None and (IN_A_LAYER.search(path) or _is_leaf(modules[start + path])):
            return True
    return False


def _is_leaf(module: Any) -> bool:
    """Tell whether it is a matrix, a norm or the like: it has values, and nothing within it."""
    return not any(module.children()) and any(True for _ in module.parameters())


def _class(skeleton: Skeleton) -> str:
    return type(skeleton.model).__name__


def _common(names: Iterable[str]) -> str:
    firsts = {name.partition(".")[0] for name in names}
    return f"{clean(next(iter(firsts)))}." if len(firsts) == 1 else ""


def _are(names: list[str]) -> str:
    return "are" if len(names) > 1 else "is"
