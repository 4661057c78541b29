"""The choice of the library's class for a folder's tensors: by what is there, not by a text."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.files.foreign_text import clean, some_of, whole_text
from transformer.files.tensors import Stored
from transformer.hugging_face.failure import in_a_sentence
from transformer.hugging_face.kinds import only_looks_causal
from transformer.hugging_face.skeleton import Skeleton, build_skeleton

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
