"""Makes holm.json: p-values adjusted by closed testing, which Holm's method is a shortcut of.

The adjusted p of a hypothesis is the largest Bonferroni p of all intersections that it is part of (Marcus, Peritz and
Gabriel, Biometrika 1976): here every subset is tried. Run: python3 holm.py >holm.json
"""

import json
import random
from fractions import Fraction


def closed(ps):
    adjusted = [Fraction(0)] * len(ps)
    for subset in range(1, 1 << len(ps)):
        members = [i for i in range(len(ps)) if subset >> i & 1]
        bonferroni = min(Fraction(1), len(members) * min(ps[i] for i in members))
        for i in members:
            adjusted[i] = max(adjusted[i], bonferroni)
    return adjusted


def vectors():
    yield ["0.01", "0.04", "0.03", "0.005"]
    yield ["0.5"]
    yield ["1", "1", "1"]
    yield ["0", "0.2", "0"]
    yield ["0.02", "0.02", "0.02", "0.02", "0.02"]
    draw = random.Random(1)
    for size in (2, 3, 6, 9, 12):
        yield [f"{draw.random() ** 3:.4f}" for _ in range(size)]


rows = []
for texts in vectors():
    adjusted = closed([Fraction(t) for t in texts])
    rows.append({"p": [float(t) for t in texts], "adjusted": [float(a) for a in adjusted]})
print('{\n "source": "closed testing with Bonferroni over all subsets, exact fractions (holm.py)",\n "vectors": [\n  '
      + ",\n  ".join(map(json.dumps, rows)) + "\n ]\n}")
