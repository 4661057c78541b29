"""Plain values come out as they went in; anything else is refused, whatever it would do."""

import pickle
from typing import Any

import pytest

from transformer.files.torch_file import read_plain_pickle

VALUES: tuple[Any, ...] = (
    {"vocab_size": 3, "stoi": {"a": 0, "é": 1, "😀": 2}, "itos": {0: "a", 1: "é", 2: "😀"}},
    [1, -5, 2**30, -(2**31), 2**40, 10**30, 0.5, True, False, None, "", "x" * 300],
    {"nested": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], "empty": [{}, [], ()]},
    {str(i): i for i in range(2500)},
)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("value", VALUES, ids=["nano_gpt", "scalars", "nested", "long"])
def test_it_reads_what_pickle_writes(value: Any, protocol: int) -> None:
    assert read_plain_pickle(pickle.dumps(value, protocol)) == value


def test_what_is_one_object_stays_one() -> None:
    shared = ["a"]
    read = read_plain_pickle(pickle.dumps([shared, shared]))
    assert read == [["a"], ["a"]] and read[0] is read[1]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pickle.dumps(print), r"more than plain values \((STACK_)?GLOBAL\)"),
        (pickle.dumps({1, 2}), "more than plain values"),
        (pickle.dumps(b"bytes"), "more than plain values"),
        (b"cos\nsystem\n(S'true'\ntR.", r"more than plain values \(GLOBAL\)"),
        (b"\x80\x05\x96\xff\xff\xff\xff\x10\x00\x00\x00.", "."),
        (b"\x80\x02h\x05.", "refers to what it does not have"),
        (b"\x80\x02(s.", "."),
        (b"\x80\x02]s.", "takes more than it has"),
        (b"\x80\x02K\x01K\x02K\x03s.", "sets an item of what is not a dictionary"),
        (b"\x80\x02}K\x01a.", "appends to what is not a list"),
        (b"\x80\x02}]K\x01s.", "keys that are neither"),
        (b"\x80\x02}(K\x01u.", "."),
        (b"\x80\x02.", "does not have"),
        (b"\x80\x02t.", "does not have"),
        (b"", "."),
    ],
)
def test_everything_else_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_plain_pickle(data)


def test_tuples_in_tuples_are_never_hashed() -> None:
    """Sixty doublings: the hash of such a key would take for ever, as pickle itself does."""
    data = b"\x80\x02})" + b"q\x00h\x00\x86" * 60 + b"K\x01s."
    with pytest.raises(ValueError, match="keys that are neither texts nor numbers"):
        read_plain_pickle(data)
