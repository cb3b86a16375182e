"""C++ as a list of tokens, as far as a mutator needs it. It relies on clang-format: binary operators have blanks on
both sides, template brackets have none inside."""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r'(?P<skip>[ \t\r\n]+|//[^\n]*|/\*(?:.|\n)*?\*/)'
    r'|(?P<directive>(?<![^\n])[ \t]*\#(?:\\\n|[^\n])*)'
    r'|(?P<string>(?:u8|[uUL])?R"(?P<mark>[^ ()\\]{0,16})\((?:.|\n)*?\)(?P=mark)"'
    r'|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"(?:sv|s)?)'
    r"|(?P<char>'(?:\\.|[^'\\\n])+')"
    r"|(?P<number>(?:0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*(?:\.[0-9']*)?(?:[eE][+-]?[0-9]+)?)[a-zA-Z]*)"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<sign><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\w\s])"
)

OPENING = {"(": ")", "[": "]", "{": "}"}
# Statements and expressions in them are left alone: what they say is checked elsewhere or not at all.
UNTOUCHED_CALLS = {"static_assert", "CHECK", "sizeof", "decltype", "alignas", "noexcept"}


@dataclass(frozen=True)
class Token:
    kind: str  # string, char, number, word, sign
    text: str
    start: int
    end: int
    spaced: bool  # blanks on both sides


class Source:
    """A file's tokens without comments and preprocessor lines. `partner` maps each bracket to its other one; `depth`
    tells of each token whether it stands in a function's body; `untouched` those that must stay as they are."""

    def __init__(self, text):
        self.text = text
        self.tokens = list(self._scan())
        self.partner = self._match()
        self.in_body = self._find_bodies()
        self.untouched = self._find_untouched()

    def _scan(self):
        position = 0
        while position < len(self.text):
            match = TOKEN.match(self.text, position)
            if match is None:
                raise ValueError(f"no token at {self.text[position:position + 20]!r}")
            if match.lastgroup not in ("skip", "directive"):
                kind = "string" if match.group("string") is not None else match.lastgroup
                start, end = match.span()
                around = self.text[start - 1:start] + self.text[end:end + 1]
                yield Token(kind, match.group(), start, end, len(around) == 2 and around.isspace())
            position = match.end()

    def _match(self):
        partner, open_ones = {}, []
        for i, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in OPENING:
                open_ones.append(i)
            elif token.text in OPENING.values():
                opening = open_ones.pop()
                partner[opening], partner[i] = i, opening
        return partner

    def text_of(self, index):
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def _find_bodies(self):
        in_body, stack = [], [False]
        for i, token in enumerate(self.tokens):
            if token.text == "{" and token.kind == "sign":
                stack.append(self._opens_body(i, stack[-1]))
            elif token.text == "}" and token.kind == "sign":
                stack.pop()
            in_body.append(stack[-1])
        return in_body

    def _opens_body(self, brace, is_inside):
        before = self.text_of(brace - 1)
        if before in (")", "else", "do", "try", "mutable"):
            return True
        if before in ("const", "noexcept", "override", "final"):
            return True
        if before == "]" and self.text_of(self.partner.get(brace - 1, -1) - 1) not in ("]",):
            return self.tokens[brace - 1].end < self.tokens[brace].start  # [this] { … }, not a[1]{…}
        if is_inside and before in ("{", "}", ";", ":"):
            return True
        for i in range(brace - 1, max(0, brace - 25), -1):  # -> Type {
            if self.text_of(i) in (";", "{", "}", "="):
                return False
            if self.text_of(i) == "->":
                return self.text_of(i - 1) in (")", "const", "mutable", "noexcept")
        return False

    def _find_untouched(self):
        untouched = set()
        for i, token in enumerate(self.tokens):
            if token.text in UNTOUCHED_CALLS and self.text_of(i + 1) == "(":
                untouched.update(range(i, self.partner[i + 1] + 1))
        return untouched

    def line_of(self, position):
        return self.text.count("\n", 0, position) + 1
