"""The participants of a system: its processes and the channels between them.  Only pictures of runs need them."""

from __future__ import annotations

from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.models.system import Ages, Flag, Labels, Subset, System

_PC = "_pc"


@dataclass(frozen=True)
class Role:
    """A process: its program counter, its choice to be active, and the names that belong to it."""

    name: str
    pc: str | None = None
    active: str | None = None
    owns: tuple[str, ...] = ()
    """Its other variables and choices."""


@dataclass(frozen=True)
class Channel:
    """A buffer of messages: its sender, its receiver, and the choice of ages that are delivered."""

    buffer: str
    sender: str | None = None
    receiver: str | None = None
    delivered: str | None = None


@dataclass(frozen=True)
class Cast:
    """The processes and channels of a system."""

    processes: tuple[Role, ...] = ()
    channels: tuple[Channel, ...] = ()

    def check(self, system: System) -> None:
        """Refuse names that the system lacks or uses for something else."""
        choices = [choice for phase in system.phases for choice in phase.choices]
        names = [part.name for part in (*system.variables, *choices)]
        labels = [v.name for v in system.variables if isinstance(v.sort, Labels)]
        flags = [choice.name for choice in choices if isinstance(choice, Flag)]
        processes = [process.name for process in self.processes]
        expected: list[tuple[str | None, list[str], str]] = []
        for process in self.processes:
            expected += [(process.pc, labels, "program counter"), (process.active, flags, "choice between yes and no")]
            expected += [(name, names, "variable or choice") for name in process.owns]
        for channel in self.channels:
            subsets = [choice.name for choice in choices if isinstance(choice, Subset) and choice.of == channel.buffer]
            expected += [
                (channel.buffer, list_buffers(system), "buffer"),
                (channel.delivered, subsets, "choice of the buffer's ages"),
            ]
            expected += [(name, processes, "process") for name in (channel.sender, channel.receiver)]
        for name, known, kind in expected:
            if name is not None and name not in known:
                raise UsageError(f"{system.name}: the cast names {name!r}, which is not a {kind}")


def derive_cast(system: System) -> Cast:
    """Return the cast that the system declares, or one derived from its names.

    A program counter ``x_pc`` makes a process ``x``, which owns the names that start with ``x_``.  A buffer without a
    declared channel gets one without sender and receiver.
    """
    declared = Cast(_suggest_processes(system)) if system.cast is None else system.cast
    known = {channel.buffer: channel for channel in declared.channels}
    return Cast(
        declared.processes, tuple(known.get(name) or _suggest_channel(system, name) for name in list_buffers(system))
    )


def list_buffers(system: System) -> list[str]:
    return [variable.name for variable in system.variables if isinstance(variable.sort, Ages)]


def _suggest_channel(system: System, buffer: str) -> Channel:
    """Derive a channel; a choice of the buffer's ages is its delivery if there is no other."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    taking = [choice.name for choice in choices if isinstance(choice, Subset) and choice.of == buffer]
    return Channel(buffer, delivered=taking[0] if len(taking) == 1 else None)


def _suggest_processes(system: System) -> tuple[Role, ...]:
    choices = [choice for phase in system.phases for choice in phase.choices]
    flags = [choice.name for choice in choices if isinstance(choice, Flag)]
    names = [part.name for part in (*system.variables, *choices)]
    roles = []
    for variable in system.variables:
        if isinstance(variable.sort, Labels):
            name = variable.name.removesuffix(_PC)
            active = f"{name}_active"
            own = tuple(n for n in names if n.startswith(f"{name}_") and n not in (variable.name, active))
            roles.append(Role(name, variable.name, active if active in flags else None, own))
    return tuple(roles)
