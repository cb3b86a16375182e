"""What a mutator does to a C++ file: each operator is a generator of (start, end, replacement) of its text."""

import re

SWAPPED_SIGNS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
}
SHORTER_UNIT = {"h": "min", "min": "s", "s": "ms", "ms": "us", "us": "ms"}
SHORTER_TYPE = {"hours": "minutes", "minutes": "seconds", "seconds": "milliseconds", "milliseconds": "seconds"}
FACTORS = {"60", "100", "1'000", "1000", "3'600", "3600", "1'000'000", "1000000", "1024"}
EXTREMES = {"min": "max", "max": "min", "min_element": "max_element", "max_element": "min_element"}
# Statements that begin with these are no expressions, or must stay.
KEYWORDS = {
    "return", "break", "continue", "if", "else", "for", "while", "do", "switch", "case", "default", "using", "const",
    "auto", "static", "constexpr", "throw", "goto", "try", "catch", "delete", "new", "typedef", "struct", "class",
    "enum", "template", "public", "private", "protected", "namespace", "co_return", "co_await", "co_yield",
}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
# Dropping one of these changes no result, only how long it takes.
ONLY_FASTER = {"reserve", "shrink_to_fit"}
# Their arguments mean the same either way round.
SYMMETRIC = {"min", "max", "minmax", "swap", "lcm", "gcd", "midpoint"}
ARGUMENTS_MAX = 8  # more of them are a list, as those of std::tie for ==
SMALL = 1000  # of larger numbers, one more or less says nothing


def comparison(source):
    for i, token in enumerate(source.tokens):
        if token.text in SWAPPED_SIGNS and token.spaced and source.text_of(i - 1) != "operator":
            yield token.start, token.end, SWAPPED_SIGNS[token.text]


def constant(source):
    for i, token in enumerate(source.tokens):
        if token.text in ("true", "false"):
            yield token.start, token.end, "false" if token.text == "true" else "true"
        if token.kind != "number" or not re.fullmatch(r"[0-9]+[uUlL]*", token.text):
            continue
        digits = re.match(r"[0-9]+", token.text).group()
        if source.text_of(i - 1) == "case" or int(digits) >= SMALL:
            continue
        other = 0 if int(digits) == 1 else int(digits) + 1
        yield token.start, token.end, f"{other}{token.text[len(digits):]}"


def _arguments(source, opening):
    """(first token, last token) of each argument between the parentheses; none if one is empty."""
    arguments, first, i = [], opening + 1, opening + 1
    while i <= source.partner[opening]:
        if source.text_of(i) in ("(", "[", "{"):
            i = source.partner[i]
        elif source.text_of(i) == "," or i == source.partner[opening]:
            if i == first:
                return []
            arguments.append((first, i - 1))
            first = i + 1
        i += 1
    return arguments


def _is_simple(source, first, last):
    """A name, a member of something, a number: nothing that does or computes anything."""
    tokens = source.tokens[first:last + 1]
    if len(tokens) == 1:
        return tokens[0].kind in ("word", "number") and tokens[0].text not in KEYWORDS
    if tokens[0].text in ("*", "&", "-"):
        return _is_simple(source, first + 1, last)
    return len(tokens) % 2 == 1 and all(
        token.kind == "word" if i % 2 == 0 else token.text in (".", "->", "::") for i, token in enumerate(tokens)
    )


def swapped_arguments(source):
    for opening, token in enumerate(source.tokens):
        name = source.tokens[opening - 1] if opening > 0 else None
        if token.text != "(" or name is None or name.kind != "word" or not source.in_body[opening]:
            continue
        if name.text in KEYWORDS or name.text in SYMMETRIC:
            continue
        arguments = _arguments(source, opening)
        if len(arguments) > ARGUMENTS_MAX:
            continue
        for (a, b), (c, d) in zip(arguments, arguments[1:]):
            one = source.text[source.tokens[a].start:source.tokens[b].end]
            other = source.text[source.tokens[c].start:source.tokens[d].end]
            if one == other or not _is_simple(source, a, b) or not _is_simple(source, c, d):
                continue
            between = source.text[source.tokens[b].end:source.tokens[c].start]
            yield source.tokens[a].start, source.tokens[d].end, other + between + one


def _end_of_template(source, i):
    """The token after `<…>` if these are brackets of a template, else i."""
    if source.text_of(i) != "<" or source.tokens[i].spaced:
        return i
    depth = 0
    for j in range(i, min(i + 40, len(source.tokens))):
        text = source.text_of(j)
        if text in (";", "{", "}"):
            return i
        depth += {"<": 1, ">": -1}.get(text, 0)
        if depth == 0:
            return j + 1
    return i


def _end_of_expression(source, i):
    """The `;` of the expression statement that begins at token i; None if it is something else."""
    while source.text_of(i) in ("*", "++", "--", "::"):
        i += 1
    if source.text_of(i) == "(":
        i = source.partner[i] + 1
    elif source.tokens[i].kind == "word" and source.text_of(i) not in KEYWORDS:
        i += 1
    else:
        return None
    acts = source.text_of(i - 1) == ")"
    while True:
        i = _end_of_template(source, i)
        text = source.text_of(i)
        if text in ("::", ".", "->") and source.tokens[i + 1].kind == "word":
            i += 2
        elif text in ("(", "["):
            i, acts = source.partner[i] + 1, text == "("
        elif text in ("++", "--"):
            i, acts = i + 1, True
        else:
            break
    if source.text_of(i) == ";":
        return i if acts or source.text_of(i - 1) not in ("]",) else None
    if source.text_of(i) not in ASSIGNMENTS:
        return None
    while source.text_of(i) != ";":
        i = source.partner.get(i, i) + 1
    return i


def _is_after_label(source, i):
    """Behind `case …:`, and not in `a ? b : c`."""
    i -= 1
    while i > 0 and source.text_of(i - 1) not in (";", "{", "}"):
        i -= 1
        if source.text_of(i) in ("case", "default"):
            return True
    return False


def dropped_statement(source):
    for i, token in enumerate(source.tokens[1:], 1):
        before = source.text_of(i - 1)
        if not source.in_body[i] or before not in (";", "{", "}", ")", "else", ":"):
            continue
        if before == ":" and not _is_after_label(source, i):
            continue
        if before == ")" and source.text_of(source.partner[i - 1] - 1) not in ("if", "for", "while"):
            continue
        if token.kind == "word" and token.text in KEYWORDS:
            continue
        end = _end_of_expression(source, i)
        if end is None or any(source.text_of(j) in ONLY_FASTER for j in range(i, end)):
            continue
        if token.text == "(" and source.text_of(i + 1) == "void":
            continue
        yield token.start, source.tokens[end].start, ""


def early_return(source):
    for i, token in enumerate(source.tokens):
        if token.text != "void" or source.in_body[i]:
            continue
        i += 1
        while source.text_of(i) == "::" or (i < len(source.tokens) and source.tokens[i].kind == "word"):
            i += 1
        if source.text_of(i) != "(":
            continue
        i = source.partner[i] + 1
        while source.text_of(i) in ("const", "noexcept", "override", "final"):
            i += 1
        if source.text_of(i) == "{" and source.text_of(i + 1) != "}":
            yield source.tokens[i].end, source.tokens[i].end, " return;"


def negated_condition(source):
    for i, token in enumerate(source.tokens):
        if token.text != "if" or source.text_of(i + 1) != "(":
            continue
        first, last = i + 2, source.partner[i + 1] - 1
        j = first
        is_declaration = False
        while j <= last:
            if source.text_of(j) == ";":
                first, is_declaration = j + 1, False
            is_declaration = is_declaration or source.text_of(j) == "="
            j = source.partner[j] + 1 if source.text_of(j) in ("(", "[", "{") else j + 1
        if is_declaration:
            continue
        start, end = source.tokens[first].start, source.tokens[last].end
        yield start, end, f"!({source.text[start:end]})"


def wrong_unit(source):
    for i, token in enumerate(source.tokens):
        if token.kind == "number" and (
                match := re.fullmatch(r"([1-9][0-9'.]*)(h|min|s|ms|us)", token.text)):
            yield token.start, token.end, match.group(1) + SHORTER_UNIT[match.group(2)]
        if token.text in SHORTER_TYPE and source.text_of(i - 1) == "::":
            yield token.start, token.end, SHORTER_TYPE[token.text]
        if token.text in ("*", "/") and token.spaced and source.text_of(i + 1) in FACTORS:
            yield source.tokens[i - 1].end, source.tokens[i + 1].end, ""


def plus_minus(source):
    swapped = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
    for i, token in enumerate(source.tokens):
        if token.text in ("++", "--"):
            yield token.start, token.end, "--" if token.text == "++" else "++"
        if token.text not in swapped or not token.spaced:
            continue
        if "string" in (source.tokens[i - 1].kind, source.tokens[i + 1].kind):
            continue
        yield token.start, token.end, swapped[token.text]


def min_max(source):
    for i, token in enumerate(source.tokens):
        if token.text in EXTREMES and source.text_of(i - 1) == "::" and source.text_of(i - 2) in ("std", "ranges"):
            yield token.start, token.end, EXTREMES[token.text]


OPERATORS = {
    "comparison": comparison,
    "constant": constant,
    "swapped arguments": swapped_arguments,
    "dropped statement": dropped_statement,
    "early return": early_return,
    "negated condition": negated_condition,
    "wrong unit": wrong_unit,
    "plus minus": plus_minus,
    "min max": min_max,
}
