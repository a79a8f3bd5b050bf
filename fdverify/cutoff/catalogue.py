"""Lookup of a template: the shipped one, or one in a user's file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fdverify.cutoff.chandra_toueg import LOCATIONS, chandra_toueg
from fdverify.cutoff.template import Template
from fdverify.errors import UsageError, did_you_mean
from fdverify.models.catalogue import is_file_reference
from fdverify.models.chandra_toueg.phases import VARIANTS
from fdverify.models.user_files import blaming, load_module, neighbours_importable

SHIPPED = "chandra-toueg"
DEFAULT_VARIANT = "tla"


def find_template(reference: str, options: Mapping[str, str | int]) -> Template:
    """Find the shipped template, ``file.py:NAME``, or the only template of ``file.py``.

    Options apply to the shipped template only.
    """
    if reference == SHIPPED:
        return _shipped(options)
    if not is_file_reference(reference):
        raise UsageError(f"unknown template {reference}", f"{did_you_mean(reference, [SHIPPED])} or file.py:NAME")
    if options:
        raise UsageError(f"--{next(iter(options))} is an option of {SHIPPED} only", "build it into your template")
    file, name = (reference, None) if reference.endswith(".py") else reference.rsplit(":", 1)
    template = _in_file(Path(file), name)
    with neighbours_importable(Path(file)), blaming(Path(file)):
        template.check_total()
    return template


def _in_file(file: Path, name: str | None) -> Template:
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


def _shipped(options: Mapping[str, str | int]) -> Template:
    for name, known in (("variant", list(VARIANTS)), ("start", list(LOCATIONS))):
        if name in options and options[name] not in known:
            raise UsageError(f"--{name} must be one of {', '.join(known)}, got {options[name]}")
    timeout = options.get("timeout", 1)
    if not isinstance(timeout, int) or timeout < 1:
        raise UsageError(f"--timeout must be at least 1, got {timeout}")
    return chandra_toueg(str(options.get("variant", DEFAULT_VARIANT)), timeout, str(options.get("start", "send")))
