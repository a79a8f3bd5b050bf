"""A shipped model is found by its name, is recognised, and is loaded only if it is used."""

import subprocess
import sys
from dataclasses import replace

import pytest

from fdverify.detectors.model_catalogue import DEFAULT, SHIPPED, find_model, is_shipped

LOADED = """
import sys
from fdverify.detectors.model_catalogue import find_model

find_model(sys.argv[1])
print(*sorted({".".join(name.split(".")[:3]) for name in sys.modules if name.startswith("fdverify.detectors.")}))
"""


@pytest.mark.parametrize("name", SHIPPED)
def test_it_has_the_name_under_which_it_is_found(name: str) -> None:
    assert find_model(name).name == name


def test_the_default_is_shipped() -> None:
    assert DEFAULT in SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_another_model_of_its_name_is_not_shipped(name: str) -> None:
    model = find_model(name)
    assert is_shipped(model)
    assert not is_shipped(replace(model, summary=model.summary + "!"))


@pytest.mark.parametrize("name", SHIPPED)
def test_no_other_model_is_loaded(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, name], capture_output=True, text=True, check=True)
    folder = SHIPPED[name].partition(":")[0]
    assert done.stdout.split() == sorted(["fdverify.detectors.model_catalogue", folder])
