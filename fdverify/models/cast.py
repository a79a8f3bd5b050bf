"""Who takes part in a system: the processes, and the channels between them.  Pictures of runs need it, nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.models.system import Ages, Flag, Labels, Subset, System

_PC = "_pc"


@dataclass(frozen=True)
class Role:
    """A process: the variable that is its program counter, the choice to be active, and all names that are its own."""

    name: str
    pc: str | None = None
    active: str | None = None
    owns: tuple[str, ...] = ()
    """Variables and choices besides those two."""


@dataclass(frozen=True)
class Channel:
    """A buffer of messages: which process sends them, which one gets them, and by which choice of ages."""

    buffer: str
    sender: str | None = None
    receiver: str | None = None
    delivered: str | None = None


@dataclass(frozen=True)
class Cast:
    processes: tuple[Role, ...] = ()
    channels: tuple[Channel, ...] = ()

    def check(self, system: System) -> None:
        """Refuse names that the system does not have, or has for something else."""
        choices = [choice for phase in system.phases for choice in phase.choices]
        names = [each.name for each in (*system.variables, *choices)]
        labels = [v.name for v in system.variables if isinstance(v.sort, Labels)]
        flags = [choice.name for choice in choices if isinstance(choice, Flag)]
        processes = [process.name for process in self.processes]
        wanted: list[tuple[str | None, list[str], str]] = []
        for process in self.processes:
            wanted += [(process.pc, labels, "program counter"), (process.active, flags, "choice between yes and no")]
            wanted += [(name, names, "variable or choice") for name in process.owns]
        for channel in self.channels:
            subsets = [choice.name for choice in choices if isinstance(choice, Subset) and choice.of == channel.buffer]
            wanted += [(channel.buffer, buffers(system), "buffer"), (channel.delivered, subsets, "choice of its ages")]
            wanted += [(name, processes, "process") for name in (channel.sender, channel.receiver)]
        for name, known, kind in wanted:
            if name is not None and name not in known:
                raise UsageError(f"{system.name}: the cast has {name!r}, which is no {kind} of it")


def cast_of(system: System) -> Cast:
    """The system's own, or what its names suggest: ``x_pc`` makes a process ``x``, and what starts with ``x_`` is its.

    A buffer that is not spoken of is a channel from nobody to nobody.
    """
    declared = Cast(_suggested_processes(system)) if system.cast is None else system.cast
    known = {channel.buffer: channel for channel in declared.channels}
    return Cast(declared.processes, tuple(known.get(name) or _suggested(system, name) for name in buffers(system)))


def buffers(system: System) -> list[str]:
    return [variable.name for variable in system.variables if isinstance(variable.sort, Ages)]


def _suggested(system: System, buffer: str) -> Channel:
    """If there is one choice of its ages only, that is a delivery."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    taking = [choice.name for choice in choices if isinstance(choice, Subset) and choice.of == buffer]
    return Channel(buffer, delivered=taking[0] if len(taking) == 1 else None)


def _suggested_processes(system: System) -> tuple[Role, ...]:
    choices = [choice for phase in system.phases for choice in phase.choices]
    flags = [choice.name for choice in choices if isinstance(choice, Flag)]
    names = [each.name for each in (*system.variables, *choices)]
    found = []
    for variable in system.variables:
        if isinstance(variable.sort, Labels):
            name = variable.name.removesuffix(_PC)
            active = f"{name}_active"
            own = tuple(n for n in names if n.startswith(f"{name}_") and n not in (variable.name, active))
            found.append(Role(name, variable.name, active if active in flags else None, own))
    return tuple(found)
