"""A character language model: three characters of context, one hidden tanh layer, softmax, momentum
SGD.

All parameters are one flat list of floats, so that gradients are lists to be added and a checkpoint
is the list's bytes. Every sum has a fixed order: the same input gives the same bits.
"""

import array
import hashlib
import math
import random
import sys
from operator import add, mul

CONTEXT = 3


class Corpus:
    """Text as numbers: lower case, each distinct character one class."""

    def __init__(self, text):
        text = " ".join(text.lower().split())
        if len(text) <= CONTEXT + 1:
            raise SystemExit(f"corpus of {len(text)} characters, at least {CONTEXT + 2} needed")
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.alphabet = sorted(set(text))
        number_of = {character: i for i, character in enumerate(self.alphabet)}
        self.classes = [number_of[character] for character in text]

    def random_position(self, rng):
        return rng.randrange(CONTEXT, len(self.classes))


class Model:
    def __init__(self, classes, hidden, seed):
        self.classes, self.hidden = classes, hidden
        self.context_size = CONTEXT * classes * hidden
        self.output_at = self.context_size + hidden  # after the hidden layer's bias
        self.bias_at = self.output_at + classes * hidden
        self.size = self.bias_at + classes
        rng = random.Random(seed)
        self.weights = [rng.uniform(-0.1, 0.1) for _ in range(self.size)]
        self.velocity = [0.0] * self.size

    def gradient(self, corpus, positions):
        """The sum over `positions` of the gradient, and of the loss in nats. Changes nothing."""
        w, n, h = self.weights, self.classes, self.hidden
        bias_hidden = w[self.context_size:self.output_at]
        rows = [w[self.output_at + c * h:self.output_at + (c + 1) * h] for c in range(n)]
        bias = w[self.bias_at:]
        g = [0.0] * self.size
        g_rows = [[0.0] * h for _ in range(n)]
        loss = 0.0
        for position in positions:
            starts = [
                (k * n + corpus.classes[position - 1 - k]) * h for k in range(CONTEXT)
            ]
            inputs = (w[start:start + h] for start in starts)
            hidden = [math.tanh(a + b + c + d) for a, b, c, d in zip(bias_hidden, *inputs)]
            logits = [b + sum(map(mul, row, hidden)) for b, row in zip(bias, rows)]
            top = max(logits)
            exps = [math.exp(x - top) for x in logits]
            total = sum(exps)
            target = corpus.classes[position]
            loss += math.log(total) + top - logits[target]
            delta = [e / total for e in exps]
            delta[target] -= 1.0
            back = [0.0] * h
            for c, d in enumerate(delta):
                g_rows[c] = [x + d * y for x, y in zip(g_rows[c], hidden)]
                back = [x + d * y for x, y in zip(back, rows[c])]
                g[self.bias_at + c] += d
            back = [x * (1.0 - y * y) for x, y in zip(back, hidden)]
            for start in starts + [self.context_size]:
                g[start:start + h] = map(add, g[start:start + h], back)
        for c, row in enumerate(g_rows):
            g[self.output_at + c * h:self.output_at + (c + 1) * h] = row
        return g, loss

    def update(self, gradient, examples, rate, momentum=0.9):
        scale = rate / examples
        self.velocity = [momentum * v - scale * g for v, g in zip(self.velocity, gradient)]
        self.weights = list(map(add, self.weights, self.velocity))

    def sha256(self):
        return hashlib.sha256(to_bytes(self.weights)).hexdigest()


def to_bytes(floats):
    """IEEE doubles, little endian: exact, unlike decimal text."""
    values = array.array("d", floats)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def from_bytes(data):
    values = array.array("d")
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()
