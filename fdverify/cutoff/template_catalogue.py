"""Lookup of a template: the shipped one, or one in a user's file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fdverify.cutoff.chandra_toueg_template import LOCATIONS, chandra_toueg
from fdverify.cutoff.template import Template
from fdverify.detectors.chandra_toueg.round_phases import VARIANTS
from fdverify.detectors.model_catalogue import is_file_reference
from fdverify.errors import UsageError, suggest_name
from fdverify.models.loading import allow_neighbour_imports, blame_errors_on, load_module

SHIPPED = "chandra-toueg"
DEFAULT_VARIANT = "tla"


def find_template(reference: str, options: Mapping[str, str | int]) -> Template:
    """Find the shipped template, ``file.py:NAME``, or the only template of ``file.py``.

    Options apply to the shipped template only.
    """
    if reference == SHIPPED:
        return _build_shipped(options)
    if not is_file_reference(reference):
        raise UsageError(f"unknown template {reference}", f"{suggest_name(reference, [SHIPPED])} or file.py:NAME")
    if options:
        raise UsageError(f"--{next(iter(options))} is an option of {SHIPPED} only", "build it into your template")
    file, name = (reference, None) if reference.endswith(".py") else reference.rsplit(":", 1)
    template = _load_from_file(Path(file), name)
    with allow_neighbour_imports(Path(file)), blame_errors_on(Path(file)):
        template.check_next_value()
    return template


def _load_from_file(file: Path, name: str | None) -> Template:
    values = vars(load_module(file))
    if name is not None:
        if not isinstance(values.get(name), Template):
            raise UsageError(f"{file} has no template {name}", "define NAME = Template(...) in it")
        template: Template = values[name]
        return template
    templates = list({id(value): value for value in values.values() if isinstance(value, Template)}.values())
    if len(templates) != 1:
        raise UsageError(f"{file} has {len(templates)} templates", "define one, or write file.py:NAME")
    return templates[0]


def _build_shipped(options: Mapping[str, str | int]) -> Template:
    for name, known in (("variant", list(VARIANTS)), ("start", list(LOCATIONS))):
        if name in options and options[name] not in known:
            raise UsageError(f"--{name} must be one of {', '.join(known)}, got {options[name]}")
    timeout = options.get("timeout", 1)
    if not isinstance(timeout, int) or timeout < 1:
        raise UsageError(f"--timeout must be at least 1, got {timeout}")
    return chandra_toueg(str(options.get("variant", DEFAULT_VARIANT)), timeout, str(options.get("start", "send")))
