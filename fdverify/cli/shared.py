"""Options that several commands have, the same in each; light, for --help loads it."""

from pathlib import Path
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="print one JSON document")]
HtmlOption = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="write a page to look at in a browser, with runs to step through"),
]
TimeLimitOption = Annotated[
    float | None, typer.Option("--time-limit", metavar="SECONDS", help="then what is left is unknown")
]
SecondOpinionOption = Annotated[
    str | None, typer.Option("--second-opinion", metavar="SOLVER", help="decide all again, such as with cvc5")
]
