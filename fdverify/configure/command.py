"""``fdverify configure``: answer from proved formulas whether a product's settings are safe."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import typer

from fdverify.cli.commands import Command, Request, add_command, add_group
from fdverify.cli.options import build_option
from fdverify.errors import UsageError
from fdverify.reports.outcome import Outcome

if TYPE_CHECKING:
    from fdverify.configure.product_check import SettingValue
    from fdverify.detectors.product import Product, Setting

_HELP = """Say whether the settings of a product are safe, by how much, and how late a crash is noticed.

The answer comes from formulas that are proved for all values, in the units that are given (ns, us, ms, s, min, h).
Without a product, this lists the products.
"""
_EXAMPLES = (
    "fdverify configure",
    "fdverify configure elasticsearch-follower --delay 2s --pause 5s --losses 0",
    "fdverify configure kubernetes-probe --help",
)
_EXITS = "0 safe, 1 not safe, 2 bad input, 3 not decided by what is proved, 70 internal error"


def add_configure(app: typer.Typer, products: Sequence[Product]) -> None:
    """Add ``configure``, which lists the products, and a subcommand for each of these."""
    listing = Command(
        name="configure", help=_HELP, compute=_list_products, examples=_EXAMPLES, exits=_EXITS, time_limit=None
    )
    group = add_group(app, listing)
    for product in products:
        add_command(group, _build_command(product))


def _list_products(request: Request) -> Outcome:
    from fdverify.configure.report import report_products
    from fdverify.detectors.product_catalogue import load_products

    return report_products(load_products())


def _build_command(product: Product) -> Command:
    return Command(
        name=f"configure {product.name}",
        help=f"Check the settings of {product.summary}.",
        compute=partial(_compute_answer, product),
        examples=[_write_example(product)],
        exits=_EXITS,
        options=[_build_setting_option(setting) for setting in product.settings],
        shows_runs=True,
        time_limit=None,
    )


def _write_example(product: Product) -> str:
    """Write a command line with what has to be given."""
    needed = (setting for setting in product.settings if setting.default is None)
    return " ".join([f"fdverify configure {product.name}", *(f"--{each.name} {each.example}" for each in needed)])


def _build_setting_option(setting: Setting) -> inspect.Parameter:
    default = "" if setting.default is None else f"  [default: {_format_default(setting, setting.default)}]"
    return build_option(
        setting.parameter,
        str | None,
        None,
        f"--{setting.name}",
        metavar="TIME" if setting.is_time else "N",
        help=f"{setting.meaning}{default}",
        show_default=False,
    )


def _format_default(setting: Setting, value: int) -> str:
    from fractions import Fraction  # it is slow to import

    from fdverify.durations import format_duration

    return format_duration(Fraction(value)) if setting.is_time else str(value)


def _compute_answer(product: Product, request: Request, **given: str | None) -> Outcome:
    values = tuple(_read_value(setting, given[setting.parameter]) for setting in product.settings)
    from fdverify.configure.product_check import check_product
    from fdverify.configure.report import report_product

    return report_product(check_product(product, values), request.measure_seconds())


def _read_value(setting: Setting, text: str | None) -> SettingValue:
    from fractions import Fraction

    from fdverify.configure.product_check import SettingValue
    from fdverify.durations import parse_duration

    flag = f"--{setting.name}"
    if text is None:
        if setting.default is None:
            raise UsageError(f"{flag} is needed: {setting.meaning}", "it has no default; 0 is a value, too")
        return SettingValue(setting, Fraction(setting.default), True)
    value = parse_duration(flag, text) if setting.is_time else Fraction(_parse_count(flag, text))
    if value < setting.least:
        raise UsageError(f"{flag} must be at least {_format_default(setting, setting.least)}, got {text.strip()}")
    return SettingValue(setting, value, False)


def _parse_count(flag: str, text: str) -> int:
    if not text.strip().isdecimal() or len(text.strip()) > 9:
        raise UsageError(f"{flag} must be a whole number, got {text!r}", "write it in digits, at most nine")
    return int(text)
