"""Attention of one query in Python's doubles: what the answers of a baseline's implementations are compared with."""
import math
import operator

# Of the relative L2 error of a row. One more or one less of n keys changes a row by about 1 / sqrt(n).
MOST_ERROR = {"f16": 5e-3, "bf16": 2e-2}


def attend(q, k, v, scale, soft_cap=0, sink=None):
    """Numbers of the query, and rows of the keys and values that it sees: the row of O, None for zeros, and the
    log-sum-exp. A sink is the score of a key without a value."""
    scores = [scale * sum(map(operator.mul, q, key)) for key in k]
    if soft_cap:
        scores = [soft_cap * math.tanh(score / soft_cap) for score in scores]
    every = scores if sink is None else [*scores, sink]
    if not every:
        return None, -math.inf
    largest = max(every)
    total = sum(math.exp(score - largest) for score in every)
    weights = [math.exp(score - largest) / total for score in scores]
    return [sum(map(operator.mul, weights, column)) for column in zip(*v)] or None, largest + math.log(total)


def wrong(row, lse, wanted, wanted_lse, dtype):
    """Why an answer is not the wanted one, or None. `lse` is None if there is none to compare, `wanted` for zeros."""
    wanted = wanted or [0.0] * len(row)
    norm, error = math.hypot(*wanted), math.dist(row, wanted)
    error = error / norm if norm > 0 else error
    if not error <= MOST_ERROR[dtype]:
        return f"a row of O has a relative error of {error:.2g}, above the bound {MOST_ERROR[dtype]:g}"
    if lse is not None and lse != wanted_lse and not abs(lse - wanted_lse) <= MOST_ERROR[dtype] * (1 + abs(wanted_lse)):
        return f"a log-sum-exp is {lse:.4g}, not {wanted_lse:.4g}"
    return None
