"""One round of the detector (variant tla, no crash) in plain Python, to check the traces that are printed."""

from itertools import pairwise
from typing import Any

_FOLLOWING = {"Compute": "NoSnd", "NoSnd": "Receive", "Receive": "Compute"}
INITIAL = {
    "suspected": False,
    "waiting_time": 0,
    "sender_pc": "Send",
    "receiver_pc": "Compute",
    "buffer": [],
    "sender_timer": 0,
    "receiver_timer": 0,
}


def after_round(before: dict[str, Any], choices: dict[str, Any], delta: int, phi: int) -> dict[str, Any]:
    """The state that these choices lead to; an assertion fails where they are not allowed."""
    s = dict(before)
    sends, runs, delivered = choices["sender_active"], choices["receiver_active"], set(choices["delivered"])
    assert s["sender_timer"] >= 2 if sends else s["sender_timer"] + 1 < 3 * phi
    assert runs or s["receiver_timer"] + 1 < phi
    s["sender_timer"] = 0 if sends else s["sender_timer"] + 1
    s["receiver_timer"] = 0 if runs else s["receiver_timer"] + 1
    messages = {min(age + 1, delta) for age in s["buffer"]} | ({0} if sends else set())
    waited = min(s["waiting_time"] + 1, s["timeout"])
    if runs:
        s["receiver_pc"] = _FOLLOWING[s["receiver_pc"]]
    step = s["receiver_pc"] if runs else None
    assert delivered <= (messages if step == "Receive" else set())
    if step == "NoSnd":
        s["waiting_time"] = waited
    if step == "Receive":
        assert delta not in messages or delta in delivered
        s["waiting_time"] = 0 if delivered else waited
        s["timeout"] += int(bool(delivered) and s["suspected"])
        s["suspected"] = s["suspected"] and not delivered
    if step == "Compute":
        s["suspected"] = s["suspected"] or s["waiting_time"] >= s["timeout"]
        s["waiting_time"] = waited
    s["buffer"] = sorted(messages - delivered)
    return s


def check_rounds(trace: Any) -> None:
    """Every step of a trace of whole rounds is one that the detector can make."""
    parameters, steps = trace["parameters"], trace["steps"]
    assert [step["round"] for step in steps] == list(range(len(steps)))
    assert {step["phase"] for step in steps} == {None}
    assert steps[0]["choices"] == {}
    assert steps[0]["state"] == {**INITIAL, "timeout": parameters["initial_timeout"]}
    for before, after in pairwise(steps):
        expected = after_round(before["state"], after["choices"], parameters["delta"], parameters["phi"])
        assert after["state"] == expected
