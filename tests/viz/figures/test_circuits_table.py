"""The heads that one head reads, and those that read it."""

import pytest

from viz.components.kit.picture import NothingLeft
from viz.figures.heads.circuits_table import circuits_table


def test_a_model_of_one_layer_has_a_reason_and_no_table_without_rows() -> None:
    with pytest.raises(NothingLeft):
        circuits_table("Circuits of L0 H0", [], [], str, str)
