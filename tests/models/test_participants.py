"""Who takes part in a model: as it says, or as its names suggest."""

from dataclasses import replace

import pytest

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.errors import UsageError
from fdverify.models.participants import Cast, Channel, Role, derive_cast
from tests.runs.asking import CAST, asking


def test_the_detector_says_who_takes_part() -> None:
    for crash in (False, True):
        cast = derive_cast(build_chandra_toueg(None, None, crash=crash))
        assert [process.name for process in cast.processes] == ["sender", "receiver"]
        assert cast.channels == (Channel("buffer", "sender", "receiver", "delivered"),)
        assert ("crash" in cast.processes[0].owns) is crash


def test_without_a_word_names_have_to_do() -> None:
    cast = derive_cast(asking(3))
    assert cast.processes == (Role("asking", "asking_pc", "asking_active", ()),)
    assert cast.channels == (Channel("questions", delivered="got"), Channel("answers", delivered="heard"))


def test_a_buffer_that_is_not_spoken_of_is_a_channel_too() -> None:
    system = replace(asking(3), cast=replace(CAST, channels=CAST.channels[1:]))
    assert derive_cast(system).channels == (Channel("questions", delivered="got"), CAST.channels[1])


@pytest.mark.parametrize(
    ("cast", "name", "kind"),
    [
        (Cast((Role("p", pc="answered"),)), "answered", "program counter"),
        (Cast((Role("p", active="got"),)), "got", "choice between yes and no"),
        (Cast((Role("p", owns=("nothing",)),)), "nothing", "variable or choice"),
        (Cast(channels=(Channel("answered"),)), "answered", "buffer"),
        (Cast(channels=(Channel("questions", delivered="heard"),)), "heard", "choice of the buffer's ages"),
        (Cast(channels=(Channel("questions", sender="p"),)), "p", "process"),
    ],
)
def test_names_that_the_system_does_not_have_are_refused(cast: Cast, name: str, kind: str) -> None:
    with pytest.raises(UsageError, match=f"^asking: the cast names '{name}', which is not a {kind}$"):
        replace(asking(3), cast=cast)
