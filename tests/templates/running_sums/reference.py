"""Running sums, and the first of the largest elements."""
import numpy


def reference(case, x):
    return {"sums": numpy.cumsum(case["SCALE"] * x, axis=1), "largest": numpy.argmax(x, axis=1)}
