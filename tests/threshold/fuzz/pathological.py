"""Texts that nobody has written by hand, each with what is to come of it: read, or why it is refused."""

from collections.abc import Iterable

READ = "read"
DEEP = "nested more than 200 levels deep"
DIGITS = "15 digits"
LONG = "longer than 1000000 characters"
TWICE = "is declared twice"
EARLY = "the text ends too early"


def text(inits: str = "", macros: str = "", rules: str = "", more: str = "") -> str:
    return (
        f"skel A {{ shared x; parameters N; {macros} locations {{ a: []; }} "
        f"inits {{ {inits} }} rules {{ {rules} }} {more} }}"
    )


def macros(first: str, following: str, count: int) -> str:
    """Each is made of the one before it, which ``following`` calls M."""
    texts = [f"define M0 == {first};"]
    texts += [f"define M{at} == {following.replace('M', f'M{at - 1}')};" for at in range(1, count + 1)]
    return "\n".join(texts)


def nested(start: str, inside: str, end: str, times: int) -> str:
    return start * times + inside + end * times


def numbered(pattern: str, count: int) -> Iterable[str]:
    return (pattern.replace("#", str(at)) for at in range(count))


def many_names(used: str) -> str:
    names = ", ".join(numbered("v#", 5_000))
    places = " ".join(numbered("p#: [];", 2_000))
    rules = " ".join(numbered(f"#: p# -> {used} when true do {{ }};", 20))
    return f"skel A {{ parameters {names}; locations {{ {places} }} rules {{ {rules} }} }}"


SUM_OF_MANY = f"parameters {', '.join(numbered('v#', 2_000))}; define S == {' + '.join(numbered('v#', 2_000))};"

PATHOLOGICAL: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", EARLY),
    "spaces": (" \n\t" * 10_000, EARLY),
    "zero bytes": ("\0" * 1_000, r"'\x00' was not expected here"),
    "a mark of the byte order": ("\ufeff" + text(), r"'\ufeff' was not expected here"),
    "half a pair of UTF-16": (text().encode() + b"\xed\xa0\x80", "this is not UTF-8"),
    "lines that end as on Windows": (text("x == 0;\n" * 9).replace("\n", "\r\n"), READ),
    "the largest file and more": (text(" " * 500_000), "a file has at most 500000 bytes"),
    "letters of two bytes at its end": ("é" * 250_001, "a file has at most 500000 bytes"),
    # Chains
    "a long sum": (text(f"x{' + x' * 5_000} >= 0;"), READ),
    "a long sum of differences": (text(f"x{' - x' * 5_000} >= 0;"), READ),
    "a sum of many names": (text("S >= 0;", SUM_OF_MANY), READ),
    "a long product": (text(f"1{' * 1' * 5_000} >= x;"), DEEP),
    "a chain of &&": (text(f"true{' && true' * 5_000};"), DEEP),
    "a chain of ||": (text(f"true{' || true' * 5_000};"), DEEP),
    "a chain of ->": (text(f"true{' -> true' * 5_000};"), DEEP),
    "a chain of comparisons": (text(f"x{' == x' * 5_000};"), "'==' was not expected here"),
    "a chain of && that is as long as can be": (text(f"x == 0{' && x == 0' * 200};"), READ),
    "a chain of && that is too long": (text(f"x == 0{' && x == 0' * 201};"), DEEP),
    # Nesting
    "parentheses": (text(f"{nested('(', 'x', ')', 20_000)} >= 0;"), READ),
    "parentheses that are not closed": (text(f"{'(' * 20_000} x >= 0;"), "';' was not expected here"),
    "parentheses that were not opened": (text(f"x {')' * 20_000} >= 0;"), "')' was not expected here"),
    "brackets": (text("[" * 20_000), "'[' was not expected here"),
    "braces": ("skel A {" * 10_000, "'skel' was not expected here"),
    "negations": (text(nested("!", "true", "", 5_000) + ";"), DEEP),
    "negations in parentheses": (text(nested("!(", "true", ")", 5_000) + ";"), DEEP),
    "eventually": (text(more=f"specifications {{ s: {nested('<>', 'true', '', 5_000)}; }}"), DEEP),
    "globally": (text(more=f"specifications {{ s: {nested('[]', 'true', '', 5_000)}; }}"), DEEP),
    "signs that are as many as can be": (text(more=f"specifications {{ s: {'[]<>' * 100}(x == 0); }}"), READ),
    "minus": (text(f"{nested('-', 'x', '', 5_000)} >= 0;"), DEEP),
    "sums to the right": (text(f"{nested('1 + (', 'x', ')', 5_000)} >= 0;"), DEEP),
    "products to the right": (text(f"{nested('1 * (', 'x', ')', 5_000)} >= 0;"), DEEP),
    "&& to the right": (text(nested("true && (", "true", ")", 5_000) + ";"), DEEP),
    "-> to the right": (text(nested("true -> (", "true", ")", 5_000) + ";"), DEEP),
    "&& to the right, as deep as can be": (text(nested("x < N && (", "x - 3 * N == 1", ")", 200) + ";"), READ),
    "comparisons of comparisons": (text(f"{nested('(', 'x', ' == 0)', 5_000)};"), DEEP),
    "deep sums in deep formulas": (text(f"{'!' * 190}({nested('1 + (', 'x', ')', 190)} >= 0);"), READ),
    # Numbers
    "a long number": (text(f"x == {'9' * 100_000};"), DIGITS),
    "a long number that is ignored": (text(more=f"assumptions ({'9' * 100_000}) {{ }}"), READ),
    "a long number of a rule": (text(rules=f"{'9' * 100_000}: a -> a when true do {{ }};"), DIGITS),
    "a long number that is added": (text(rules=f"1: a -> a when true do {{ x' == x + {'9' * 16}; }};"), DIGITS),
    "a product of long numbers": (text(f"x == {'9' * 15} * {'9' * 15};"), DIGITS),
    "a sum of long numbers": (text(f"x == {'9' * 15} + 1;"), DIGITS),
    "long numbers that cancel out": (text(f"x == {'9' * 15} + {'9' * 15} - {'9' * 15};"), READ),
    # Macros
    "sums that double": (text("M45 >= x;", macros("x", "M + M", 45)), READ),
    "sums that double too often": (text("M60 >= x;", macros("x", "M + M", 60)), DIGITS),
    "numbers that are squared": (text("M60 >= x;", macros("2", "M * M", 60)), DIGITS),
    "claims that double": (text("M12;", macros("x == 0", "M && M", 12)), READ),
    "claims that double too often": (text("M60;", macros("x == 0", "M && M", 60)), LONG),
    "claims that double within negations": (text("M60;", macros("x == 0", "!(M -> M)", 60)), LONG),
    "claims that are negated again and again": (text("M5000;", macros("x == 0", "!M", 5_000)), DEEP),
    "a long claim that is used again and again": (
        text("M; " * 2_000, f"define M == x == 0{' && x == 0' * 150};"),
        LONG,
    ),
    "a long sum that is added again and again": (text(f"S{' + S' * 2_000} >= 0;", SUM_OF_MANY), LONG),
    "a long name in a claim that doubles": (
        text("M20;", f"parameters {'v' * 50_000}; {macros('v' * 50_000 + ' > 0', 'M && M', 20)}"),
        LONG,
    ),
    "many macros": (text("M5000 >= x;", macros("x", "M", 5_000)), READ),
    "a macro of itself": (text("M >= x;", "define M == M + 1;"), "there is no M"),
    # Names
    "many names": (many_names("p0"), READ),
    "an unknown one of many names": (many_names("q"), "q is not a location"),
    "many names and the same again": (text(macros=f"parameters {', '.join(numbered('v#', 5_000))}, v7;"), TWICE),
    "many rules": (text(rules=" ".join(numbered("#: a -> a when (x < #) do { x' == x + #; };", 2_000))), READ),
    "many specifications": (text(more=f"specifications {{ {' '.join(numbered('s#: true;', 5_000))} }}"), READ),
    "a long name": (text(f"{'v' * 100_000} == 0;", f"parameters {'v' * 100_000};"), READ),
    "a long unknown name": (text(f"{'v' * 100_000} == 0;"), "there is no vvv"),
    # Comments
    "a long comment": (text(f"/*{'* /' * 20_000}*/"), READ),
    "many comments": (text("/* */" * 5_000), READ),
    "a comment that does not end": (text("/* " * 20_000), "this comment does not end"),
    "a comment that ends with its start": (text("/*/"), "this comment does not end"),
}

LARGEST: dict[str, tuple[str | bytes, str]] = {
    "as many comparisons as can be": (text("x>0;" * 124_900), READ),
    "as long a sum as can be": (text(f"x{'+x' * 249_900}>0;"), READ),
    "as many claims as can be": (text(f"{'x>0&&' * 200}x>0;" * 497), READ),
    "as many rules as can be": (text(rules=" ".join(numbered("#:a->a when x>#do{x'==x+#;};", 13_000))), READ),
    "as many parentheses as can be": (text(f"{nested('(', 'x', ')', 249_000)}>0;"), READ),
}
"""Files of almost the length that is allowed."""
