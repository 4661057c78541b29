"""Pooling of a sentence-embedding folder, and the dense layers that follow it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from transformer.checkpoint import CONFIG, CheckpointError, is_allowed
from transformer.files.foreign_file import read_json
from transformer.files.foreign_text import clean, some_of
from transformer.hugging_face.loading import open_weights, weights_files
from transformer.recording.vector import ACTIVATIONS, MODES, Dense, Pooling

# Dense layers of a sentence-embedding folder, which follow its pooling (Sentence Transformers).

WEIGHT, BIAS = "linear.weight", "linear.bias"
INPUT = "sentence_embedding"
"""The name of the vector that a layer reads and gives, where its settings name one."""
LARGEST_SIDE = 2**16
"""Numbers of a vector, at most."""
_PLACES = ("torch.nn.modules.activation.", "torch.nn.modules.linear.", "torch.nn.")


def dense_faults(settings: Mapping[str, Any], width: int | None) -> Iterator[str]:
    """Say why a layer is not computed. width: of the vector that it reads; None: it is unknown."""
    sides = [settings.get("in_features"), settings.get("out_features")]
    if not all(isinstance(n, int) and 0 < n <= LARGEST_SIDE for n in sides):
        yield "Dense names no sizes"
    elif width is None or sides[0] != width:
        yield f"Dense reads {sides[0]:,} numbers, and the vector has {width or 'others'}"
    name = str(settings.get("activation_function"))
    if _activation(name) is None:
        yield f"Dense: the activation {clean(name)} is not known"
    names = [settings.get(f"module_{side}_name") or INPUT for side in ("input", "output")]
    if any(name != INPUT for name in names):
        yield "Dense reads or gives something else than the text's vector"


def read_dense(folder: Path, settings: Mapping[str, Any]) -> Dense:
    """Read a layer without a fault. Raises CheckpointError."""
    shape = (settings["out_features"], settings["in_features"])
    source = open_weights(folder)
    has_bias = settings.get("bias", True) is not False
    wanted = {WEIGHT: shape} | ({BIAS: shape[:1]} if has_bias else {})
    for name, expected in wanted.items():
        stored = source.stored.get(name)
        if stored is None or tuple(stored.shape) != expected:
            raise CheckpointError(f"{folder.name}: it has no {name} of shape {list(expected)}.")
    values = [tensor.float() for tensor in source.read(*wanted)]
    if not all(bool(tensor.isfinite().all()) for tensor in values):
        raise CheckpointError(f"{folder.name}: it holds NaN or infinite values.")
    activation = _activation(str(settings["activation_function"]))
    assert activation is not None
    return Dense(values[0], values[1] if has_bias else None, activation)


def _activation(name: str) -> str | None:
    """Return a name of ACTIVATIONS for a class of torch's, by its whole name."""
    place = next((each for each in _PLACES if name.startswith(each)), "")
    return name.removeprefix(place) if place and name.removeprefix(place) in ACTIVATIONS else None


# Pooling of a sentence-embedding folder: modules.json and the folders that it names.
#
# Sentence Transformers writes them (Reimers and Gurevych 2019): a Transformer, then Pooling,
# dense layers in some, and Normalize where vectors are of length 1.

MODULES, BERT = "modules.json", "sentence_bert_config.json"
PROMPTS = "config_sentence_transformers.json"
_NAMES = {"cls_token": "cls", "max_tokens": "max", "mean_tokens": "mean"}
_NAMES |= {f"{mode}_tokens": mode for mode in ("mean_sqrt_len", "weightedmean")}
_NAMES |= {"lasttoken": "lasttoken"}
"""The end of a setting, after pooling_mode_ -> its mode."""
_PREFIX = "pooling_mode_"
DENSE = "Dense"
ORDER = ("Pooling", DENSE, "Normalize")
"""The order of modules behind a model: dense layers may be several."""


def pooling_of(path: Path, config: Any) -> Pooling | None:
    """Read it; None where the folder names none, or one that is not computed: `pooling_notes`.

    config: the library's, of its model.
    """
    path = pipeline_of(path)
    return None if _faults(path, config) else _pooling(path)


def pooling_notes(path: Path, config: Any, writes: bool) -> Iterator[str]:
    """A sentence for what the folder asks of its vector, and is not computed.

    config: the library's, of its model. writes: it writes a text, and gives no vector.
    """
    outer = pipeline_of(path)
    faults = _faults(outer, config)
    if writes and (outer / MODULES).is_file():
        yield f"{MODULES} asks for the vector of a text: it is not computed, as the model writes."
    elif faults:
        yield f"{MODULES}: {some_of(faults, 3)}; the mean of all tokens stands for its vector."
    elif not writes and _is_closed(path) and _is_within(path):
        yield (
            f"{MODULES} of the folder around it is not read, as that is outside of "
            "HEADSCOPE_FOLDERS: the mean of all tokens stands for its vector."
        )
    yield from _not_followed(path, outer)


def most_tokens(path: Path) -> int | None:
    """The tokens of a text that the folder's pipeline reads, before it cuts; None: it says none."""
    most = _values(path / BERT).get("max_seq_length")
    return most if isinstance(most, int) and most > 0 else None


def _not_followed(path: Path, outer: Path) -> Iterator[str]:
    """A sentence for what its pipeline does to a text before the model reads it.

    path: of the model. outer: of its pipeline.
    """
    if _values(path / BERT).get("do_lower_case") is True:
        yield f"{BERT} asks for small letters (do_lower_case): a text is read as it is typed."
    settings = _values(outer / PROMPTS)
    name, prompts = settings.get("default_prompt_name"), settings.get("prompts")
    text = prompts.get(name) if isinstance(prompts, dict) and isinstance(name, str) else None
    if text:
        yield f"{PROMPTS} puts {clean(repr(text))} before a text: type it where it is wanted."


def _values(file: Path) -> dict[str, Any]:
    """The settings of a file; none where it is not there, or damaged."""
    try:
        values = read_json(file) if file.is_file() else {}
    except CheckpointError:
        return {}
    return values if isinstance(values, dict) else {}


def model_within(path: Path) -> Path | None:
    """Return the folder within a pipeline's that holds its model; None where there is none."""
    try:
        modules = [each for each in _modules(path) if _type(each) == "Transformer"]
    except CheckpointError:
        return None
    name = str(modules[0].get("path") or "") if modules else ""
    is_inside = name not in ("", "..") and Path(name).name == name
    return path / name if is_inside and (path / name).is_dir() else None


def pipeline_files(path: Path) -> list[Path]:
    """The files of a pipeline that lie outside its model's folder."""
    named = [path / name for name in (MODULES, BERT, PROMPTS)]
    return [file for file in (*named, *module_files(path)) if file.is_file()]


def module_files(path: Path) -> list[Path]:
    """The files of its modules: settings, and weights of dense layers with their index."""
    try:
        modules = _modules(path)
    except CheckpointError:
        return []
    return [file for each in modules for file in _files(path, each)]


def _files(path: Path, module: dict[str, Any]) -> Iterator[Path]:
    """List the files of a module that are there, as far as they can be told."""
    try:
        place = _place(path, module)
        if (place / CONFIG).is_file():
            yield place / CONFIG
        if _type(module) == DENSE:
            yield from sorted(place.glob("*.index.json"))
            yield from weights_files(place)
    except (CheckpointError, OSError, ValueError):  # a name may be too long, or none at all
        return


def pipeline_of(path: Path) -> Path:
    """Return the folder of the modules: older ones keep the model within it, in 0_Transformer."""
    if (path / MODULES).is_file() or _is_closed(path):
        return path
    return path.parent if model_within(path.parent) == path else path


def _is_closed(path: Path) -> bool:
    """Tell whether a folder may be opened, and not the one around it, which is not looked at."""
    return is_allowed(path) and not is_allowed(path.parent / MODULES)


def _is_within(path: Path) -> bool:
    """Tell by the folder itself whether it is a pipeline's model."""
    is_part = path.name.endswith("_Transformer") or (path / BERT).is_file()
    return is_part and not (path / MODULES).is_file()


def _pooling(path: Path) -> Pooling | None:
    modules = _modules(path)
    settings = next((_settings(path, each) for each in modules if _type(each) == "Pooling"), None)
    if settings is None:
        return None
    is_normalized = any(_type(each) == "Normalize" for each in modules)
    return Pooling(_modes(settings), is_normalized, tuple(_layers(path)))


def _layers(path: Path) -> Iterator[Dense]:
    for each in _modules(path):
        if _type(each) == DENSE:
            yield read_dense(_place(path, each), _settings(path, each))


def _faults(path: Path, config: Any) -> list[str]:
    """Say what is not computed, or damaged."""
    try:
        faults = _not_computed(path, getattr(config.get_text_config(), "hidden_size", None))
        if not faults:
            _pooling(path)  # its weights can be read
        return faults
    except CheckpointError as error:
        return [str(error).removeprefix(f"{path.name}: ").rstrip(".")]


def _not_computed(path: Path, width: int | None) -> list[str]:
    """width: of a token's vector."""
    modules = _modules(path)
    names = [_type(each) for each in modules]
    faults = [] if "Pooling" in names or not (path / MODULES).is_file() else ["it names no pooling"]
    faults += [
        f"{clean(name)} is not computed"
        for name in names
        if name not in ("Transformer", "Pooling", DENSE, "Normalize", "Dropout")
    ]
    order = [name for name in names if name in ORDER]
    if DENSE in order and order != sorted(order, key=ORDER.index):
        faults.append("Dense stands before Pooling, or behind Normalize")
    switches = {f"{_PREFIX}{name}" for name in _NAMES}
    for module in modules:
        if _type(module) == DENSE:
            settings = _settings(path, module)
            faults += dense_faults(settings, width)
            n_out = settings.get("out_features")
            width = n_out if isinstance(n_out, int) else None
        if _type(module) != "Pooling":
            continue
        settings = _settings(path, module)
        width = width and width * len(_modes(settings))
        unknown = [
            name
            for name, value in settings.items()
            if name.startswith(_PREFIX) and value and name not in switches
        ]
        named = settings.get("pooling_mode")
        unknown += [clean(each) for each in _several(named) if each not in MODES]
        faults += [f"{clean(name)} is not known" for name in unknown]
        if not unknown and not _modes(settings):
            faults.append("Pooling names no mode")
        if settings.get("include_prompt") is False:
            faults.append("include_prompt is not followed")
    return faults


def _modes(settings: dict[str, Any]) -> tuple[str, ...]:
    """Older files have a switch for each mode, newer ones a name or several."""
    named = {mode for name, mode in _NAMES.items() if settings.get(f"{_PREFIX}{name}") is True}
    named |= {each for each in _several(settings.get("pooling_mode")) if each in MODES}
    return tuple(mode for mode in MODES if mode in named)


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _modules(path: Path) -> list[dict[str, Any]]:
    if not (path / MODULES).is_file():
        return []
    modules = read_json(path / MODULES)
    if not isinstance(modules, list):
        raise CheckpointError(f"{path.name}: {MODULES} is not a list of modules.")
    return [each for each in modules if isinstance(each, dict)]


def _type(module: dict[str, Any]) -> str:
    return str(module.get("type")).rpartition(".")[2]


def _place(path: Path, module: dict[str, Any]) -> Path:
    """The module's own folder. Raises CheckpointError for one outside the pipeline's."""
    name = str(module.get("path"))
    if not name or Path(name).name != name or name == "..":
        raise CheckpointError(f"{path.name}: {MODULES} names a place outside it: {clean(name)}.")
    return path / name


def _settings(path: Path, module: dict[str, Any]) -> dict[str, Any]:
    """The module's own configuration. Raises CheckpointError for a place outside the folder."""
    place = _place(path, module)
    settings = read_json(place / CONFIG)
    if not isinstance(settings, dict):
        raise CheckpointError(f"{path.name}: {clean(place.name)}/{CONFIG} holds no settings.")
    return settings
