"""Runs as Mermaid sequence diagrams, which many web pages and editors draw."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping

from fdverify.models.participants import Channel
from fdverify.printable import make_printable
from fdverify.reports.outcome import Outcome
from fdverify.reports.step_table import describe_model, is_made, render_choice, render_value
from fdverify.runs.messages import Message
from fdverify.runs.run_table import ShownRun, ShownStep

_INDENT = "    "
_PLAIN = frozenset(string.ascii_letters + string.digits + " _=,.()[]{}+-*/'!?|")
"""Characters that have no meaning in the text of a diagram; all others are written as codes, such as ``#59;``."""


def write_mermaid(outcome: Outcome) -> str | None:
    """Write the first run that is shown; a diagram holds only one run."""
    return _SequenceDiagram(outcome.runs[0]).write() if outcome.runs else None


class _SequenceDiagram:
    """The diagram of one run.

    A process has an identifier of its own, because its name may be a keyword.  Without processes, the model is the only
    participant.  A channel without a known sender and receiver has no arrows; its buffer is shown as a variable.
    """

    def __init__(self, run: ShownRun) -> None:
        self._run = run
        names = [role.name for role in run.processes] or [run.model]
        self._labels = {f"p{number}": name for number, name in enumerate(names)}
        self._everyone = ",".join(dict.fromkeys(("p0", f"p{len(names) - 1}")))
        places = {role.name: f"p{number}" for number, role in enumerate(run.processes)}
        self._owners: dict[str, str] = {}
        for role in run.processes:
            for name in (role.pc, role.active, *role.owns):
                if name is not None:
                    self._owners.setdefault(name, places[role.name])
        self._ends: dict[str, tuple[str, str]] = {}
        """The sender and the receiver of each buffer that has both."""
        self._channels: dict[str, Channel] = {channel.buffer: channel for channel in run.channels}
        for channel in run.channels:
            if not run.processes:
                self._ends[channel.buffer] = ("p0", "p0")
            elif channel.sender is not None and channel.receiver is not None:
                self._ends[channel.buffer] = (places[channel.sender], places[channel.receiver])
        self._drawn_choices = {self._channels[buffer].delivered for buffer in self._ends}

    def write(self) -> str:
        return "\n".join(["sequenceDiagram", *(_INDENT + line for line in self._list_lines()), ""])

    def _list_lines(self) -> Iterator[str]:
        run = self._run
        if run.model:
            yield f"title: {_escape_text(describe_model(run.model, run.options))}"
        for place, name in self._labels.items():
            yield f"participant {place} as {_escape_text(name if name.strip() else '(no name)')}"
        if run.parameters:
            yield self._write_note(self._everyone, [f"{name} = {value}" for name, value in run.parameters.items()])
        indent, before = "", None
        for number, step in enumerate(run.steps):
            if run.loop is not None and step.round > run.loop and not indent:
                yield f"loop for ever, {self._name_step(step)} to {self._name_step(run.steps[-1])}"
                indent = _INDENT
            for line in self._list_step(number, step, before):
                yield indent + line
            before = step
        if run.loop is not None:
            if not indent:
                yield "loop for ever"
                yield _INDENT + self._write_note(self._everyone, ["nothing changes"])
            yield "end"
        for message in run.messages:
            if message.ended is None and message.buffer in self._ends:
                yield self._write_arrow("--x", message, [f"age {message.ages[-1]}", "in transit"])

    def _list_step(self, number: int, step: ShownStep, before: ShownStep | None) -> Iterator[str]:
        """List what happens in a step: the choices, the messages that end, and what has changed."""
        phase = [] if step.phase is None else [step.phase]
        yield self._write_note(self._everyone, [self._name_step(step), *phase])
        chosen = {name: value for name, value in step.choices.items() if name not in self._drawn_choices}
        yield from self._list_notes(
            {name: render_choice(name, value) for name, value in chosen.items() if is_made(value)}
        )
        yield from self._list_ended(number, step)
        old = {} if before is None else {**before.state, **before.show}
        new = {**step.state, **step.show}
        changed = [name for name in new if name not in self._ends and (name not in old or old[name] != new[name])]
        yield from self._list_notes({name: f"{name} = {render_value(new[name])}" for name in changed})

    def _list_ended(self, number: int, step: ShownStep) -> Iterator[str]:
        """List the messages that leave their buffer in a step.

        The ages that a choice takes are those at this moment; a message has its ages after steps only.  Which of the
        messages had which of the ages cannot be seen in the diagram, so it need not be known.
        """
        for buffer in self._ends:
            ended = [each for each in self._run.messages if each.buffer == buffer and each.ended == number]
            # A message that joins an older one does so before the older one can be taken.
            for taken_by in sorted({each.by for each in ended}, key=lambda by: by or ""):
                together = [each for each in ended if each.by == taken_by]
                chosen = () if taken_by is None else step.choices[taken_by]
                assert isinstance(chosen, tuple), "messages are taken by choices of ages"
                # A phase may leave a chosen message where it is; then the ages of the others are not known.
                known = len(chosen) == len(together)
                ages = [[f"age {age}"] for age in reversed(chosen)] if known else [[]] * len(together)
                for message, age in zip(together, ages, strict=True):
                    yield self._write_ended(message, age)

    def _write_ended(self, message: Message, age: list[str]) -> str:
        if message.by is not None and message.by == self._channels[message.buffer].delivered:
            return self._write_arrow("->>", message, age)
        if message.into is not None:
            return self._write_arrow("-x", message, ["joins an older one of the same age"])
        return self._write_arrow("-x", message, [*age, message.by or "gone"])

    def _write_arrow(self, arrow: str, message: Message, words: list[str]) -> str:
        sender, receiver = self._ends[message.buffer]
        subject = "message" if len(self._channels) == 1 else f"message of {message.buffer}"
        return f"{sender}{arrow}{receiver}: {_escape_text(', '.join([subject, *words]))}"

    def _list_notes(self, texts: Mapping[str, str]) -> Iterator[str]:
        """List a note for each process that owns some of the names, and one for the names that nobody owns."""
        for place in (*self._labels, None):
            words = [text for name, text in texts.items() if self._owners.get(name) == place]
            if words:
                yield self._write_note(place or self._everyone, words)

    def _write_note(self, place: str, words: list[str]) -> str:
        return f"Note over {place}: {_escape_text(', '.join(words))}"

    def _name_step(self, step: ShownStep) -> str:
        return f"round {step.round}" if self._run.processes else f"step {step.round}"


def _escape_text(text: str) -> str:
    """Write characters that Mermaid might interpret as its numeric codes."""
    return "".join(character if character in _PLAIN else f"#{ord(character)};" for character in make_printable(text))
