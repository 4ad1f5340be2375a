"""Makes statistics.json: intervals and p-values of the vectors below, as SciPy computes them.

Run with Debian's python3-scipy: python3 statistics.py >statistics.json
"""

import json
import math

import numpy
import scipy
from scipy import stats


def vectors():
    yield "two values", [0.25, 0.75]
    yield "four values", [0.1, 0.4, 0.9, 0.35]
    yield "five, one against", [0.2, 0.3, -0.1, 0.5, 0.4]
    yield "six, skewed", [1, 2, 3, 10, 30, 100]
    yield "eight shares", [0, 0, 1, 1, 1, 0, 1, 1]
    yield "ten ties", [0.5, 0.5, -0.5, 0.5, 0, 0, 0.5, -0.5, 0.5, 0.5]
    yield "ten far from 0", [1000.1, 1000.2, 1000.15, 1000.3, 1000.05, 1000.4, 1000.22, 1000.18, 1000.27, 1000.11]
    yield "twelve below 0", [-(i * 7 % 13) / 13 for i in range(12)]
    yield "fifteen plants", [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    yield "sixteen that cancel", [(-1) ** i * (1 + i // 2) for i in range(16)]
    yield "twenty, small", [(i * 11 % 23 - 9) * 1e-6 for i in range(20)]
    yield "one outlier of 25", [0.01 * i for i in range(24)] + [9]
    yield "thirty drawn", [i * 29 % 23 - 8 for i in range(30)]
    yield "40 reciprocal ranks", [1 / (1 + i * i % 7) for i in range(40)]
    yield "47 differences, most 0", [(0.5, -0.2, 1)[i % 3] if i % 5 == 0 else 0 for i in range(47)]
    yield "60 shares of fifths", [i * i % 6 / 5 for i in range(60)]
    yield "64, all but one 1", [1] * 63 + [0]
    yield "100 logarithms", [math.log(1 + i) - 3.7 for i in range(100)]
    yield "226 hits", [1 if i % 5 else 0 for i in range(226)]
    yield "700 of three golds", [(0, 1 / 3, 2 / 3, 1, 1)[i * 7 % 5] - 0.58 for i in range(700)]


def row(name, values):
    data = (numpy.array(values, dtype=float),)
    interval = stats.bootstrap(
        data, numpy.mean, n_resamples=200_000, batch=2_000, method="BCa", random_state=numpy.random.default_rng(1)
    ).confidence_interval
    exact = len(values) <= 20
    test = stats.permutation_test(
        data, numpy.mean, permutation_type="samples", batch=20_000, vectorized=True,
        n_resamples=numpy.inf if exact else 200_000, random_state=numpy.random.default_rng(1),
    )
    return {"name": name, "values": values, "low": interval.low, "high": interval.high, "p": min(1, test.pvalue), "exact": exact}


table = {
    "source": f"scipy {scipy.__version__}: stats.bootstrap (BCa, 200,000 resamples), stats.permutation_test (samples; all signs up to 20 values, else 200,000)",
    "vectors": [row(name, values) for name, values in vectors()],
}
print("{\n" + f' "source": {json.dumps(table["source"])},\n "vectors": [\n  ' + ",\n  ".join(map(json.dumps, table["vectors"])) + "\n ]\n}")
