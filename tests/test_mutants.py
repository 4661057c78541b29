"""Each fault can be put in; they are many, spread over the files, and half of them are narrow."""

from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.faults import FAULTS, ROOT, Fault
from tests.mutants.trying import Result, groups, markdown


def test_each_fault_can_be_put_in_at_one_place() -> None:
    for fault in FAULTS:
        text = (ROOT / fault.file).read_text(encoding="utf-8")
        assert text.count(fault.old) == 1 and fault.new != fault.old, fault.name


def test_faults_are_many_and_spread_and_half_of_them_narrow() -> None:
    assert len(FAULTS) >= 20 and len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert max(Counter(fault.file for fault in FAULTS).values()) <= 2
    assert sum(fault.narrow for fault in FAULTS) >= 10
    assert sum(fault.file.endswith(".js") for fault in FAULTS) >= 2
    assert {fault.file.split("/")[0] for fault in FAULTS} == {"transformer", "viz"}


def test_a_fault_is_put_into_a_copy_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\ny = 2\n", encoding="utf-8")
    Fault("one", "a.py", "x = 1", "x = 3", "").put_in(tmp_path)
    assert file.read_text(encoding="utf-8") == "x = 3\ny = 2\n"
    with pytest.raises(ValueError, match="2 times"):
        Fault("two", "a.py", " = ", " + ", "").put_in(tmp_path)


def test_the_nearest_tests_come_first_and_the_browsers_last() -> None:
    file = "transformer/hugging_face/chat/chatting.py"
    first, *_, last = groups(Fault("a", file, "", "", ""))
    assert first == ["tests/transformer/hugging_face/test_chatting.py", file]
    assert last == ["tests/browser"]
    script = [*groups(Fault("b", "viz/components/head_map/values.js", "", "", ""))]
    assert script[0] == ["tests/viz/components/test_head_map.py"]
    assert script.index(["tests/browser/test_head_map.py"]) < script.index(["tests/viz"])


def test_a_table_says_what_found_each() -> None:
    fault = Fault("a", "b.py", "", "", "x | y")
    table = markdown([(fault, Result("t.py::test", 3.2)), (fault, Result(None, 4.0))], is_all=False)
    assert "1 of 2 faults" in table and "| x \\| y | `t.py::test` | 3 |" in table
    assert "| NOT FOUND | 4 |" in table
