"""The jobs that both systems are given."""

import random

# nodes per job: weight (per mille)
MIX = {1: 700, 2: 120, 4: 80, 8: 50, 16: 30, 32: 15, 64: 5}


def mixed(count, seed, seconds=(1, 5)):
    """[(nodes, seconds of sleep)]"""
    generator = random.Random(seed)
    sizes, weights = list(MIX), list(MIX.values())
    return [
        (size, generator.randint(*seconds))
        for size in generator.choices(sizes, weights, k=count)
    ]
