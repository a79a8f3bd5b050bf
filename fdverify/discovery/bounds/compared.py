"""The author's functions compared before anything is measured with them."""

from __future__ import annotations

from dataclasses import replace

from fdverify.discovery.bounds.instance import crashing
from fdverify.job import Job
from fdverify.verdict import silent


def compare_functions(job: Job) -> tuple[str, ...]:
    """Refuse functions that mean something else to one engine, without and with crashes; notes on the others."""
    crash = crashing(job.find_model())
    systems = (job.options, {**job.options, **crash}) if crash else (job.options,)
    return tuple(dict.fromkeys(note for options in systems for note in replace(job, options=options).compare(silent)))
