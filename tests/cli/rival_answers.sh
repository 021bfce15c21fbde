# A rival that computes something else than attention does not count: baseline.py's check of an answer. The right answers,
# and those of other masks, scales, heads and lengths, come from reference.c, with which ours are compared. PyTorch is a
# stand-in.
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$ROOT/tests/cli/stand_in:$ROOT/templates/lib
set -e
for name in fwd decode; do
    cc -O2 -shared -fPIC -o $name.so "$ROOT/templates/attention_$name/reference.c" -lm
done
cat >numbers_of.py <<'PYTHON'
import ctypes
import random
import struct
import sys

import torch  # the stand-in
sys.modules["torch.nn.attention.bias"] = torch
sys.path.insert(0, sys.argv[1])


class Tensor:
    """Contiguous numbers of a shape."""
    def __init__(self, numbers, *shape):
        self.numbers, self.shape = list(numbers), shape

    def __getitem__(self, key):
        first, *rest = key if isinstance(key, tuple) else (key,)
        step = len(self.numbers) // self.shape[0]
        if isinstance(first, slice):
            rows = [self[row][tuple(rest)] if rest else self[row] for row in range(first.start or 0, first.stop)]
            return Tensor((number for row in rows for number in row.numbers), len(rows), *(rows[0].shape if rows else ()))
        part = Tensor(self.numbers[first * step : (first + 1) * step], *self.shape[1:])
        return part[tuple(rest)] if rest else part

    def tolist(self):
        return [self[i].tolist() for i in range(self.shape[0])] if len(self.shape) > 1 else self.numbers

    def item(self):
        return self.numbers[0]


def drawn(*shape):
    count = 1
    for extent in shape:
        count *= extent
    halves = struct.pack(f"{count}e", *(random.gauss(0, 1) for _ in range(count)))
    return Tensor(struct.unpack(f"{count}e", halves), *shape)


def address(of):
    return ctypes.cast(of, ctypes.c_void_p)


def halves(tensor):
    return ctypes.c_char_p(struct.pack(f"{len(tensor.numbers)}e", *tensor.numbers))


def dimensions(case, order):
    given = {**case, "SCALE": int.from_bytes(struct.pack("f", case["SCALE"]), "little"), "BF16": 0}
    return (ctypes.c_int64 * len(order))(*(given[name] for name in order))
PYTHON
cat >answers.py <<'PYTHON'
from numbers_of import *
import baseline

ORDER = ["B", "H", "H_KV", "S", "S_KV", "D", "CAUSAL", "BF16", "BSHD", "LSE", "SCALE", "GAP", "DV", "WINDOW", "SOFT_CAP",
         "SINKS", "VARLEN", "TOTAL_Q", "TOTAL_K"]
reference = ctypes.CDLL("./fwd.so").attention_fwd_reference


def answer(case, q, k, v, sinks, starts):
    """O and the log-sum-exp of reference.c, from halves."""
    rows = len(q.numbers) // case["D"]
    o, lse = (ctypes.c_double * (rows * case["DV"]))(), (ctypes.c_double * rows)()
    sink_numbers = (ctypes.c_float * case["H"])(*(sinks.numbers if sinks else [0] * case["H"]))
    cu_seqlens = [(ctypes.c_int32 * len(one))(*one) for one in starts or ([], [])]
    reference(dimensions(case, ORDER), (ctypes.c_void_p * 8)(
        *(address(one) for one in (halves(q), halves(k), halves(v), o, lse, sink_numbers, *cu_seqlens))))
    return Tensor(o, *q.shape[:3], case["DV"]), Tensor(lse, *q.shape[:3])


def refused(case, wrong):
    """Whether an answer of another case, with other dimensions as `wrong` says, or changed by it, is refused."""
    sinks = drawn(case["H"]) if case["SINKS"] else None
    starts = baseline.cumulative_lengths(case) if case["VARLEN"] else None
    batches, queries, keys = (1, starts[0][-1], starts[1][-1]) if starts else (case["B"], case["S"], case["S_KV"])
    inputs = (drawn(batches, case["H"], queries, case["D"]), drawn(batches, case["H_KV"], keys, case["D"]),
              drawn(batches, case["H_KV"], keys, case["DV"]), sinks, starts)
    if callable(wrong):
        result = wrong(*answer(case, *inputs))
    else:
        other = wrong.pop("starts", None)
        result = answer({**case, **wrong}, *inputs[:4], other(*starts) if other else starts)
    result = result if case["LSE"] or not isinstance(result, tuple) else result[0]
    return baseline.check(result, case, *inputs)


case = {"B": 2, "H": 4, "H_KV": 2, "S": 40, "S_KV": 50, "D": 32, "CAUSAL": 1, "BF16": 0, "BSHD": 0, "LSE": 0, "SCALE": 0,
        "GAP": 0, "DV": 16, "WINDOW": 0, "SOFT_CAP": 0, "SINKS": 0, "VARLEN": 0, "TOTAL_Q": 0, "TOTAL_K": 0}
cases = [case, {**case, "CAUSAL": 0}, {**case, "WINDOW": 7}, {**case, "WINDOW": 7, "CAUSAL": 0}, {**case, "SOFT_CAP": 2},
         {**case, "SINKS": 1, "BF16": 1, "LSE": 1}, {**case, "S": 50, "S_KV": 40, "SINKS": 1}, {**case, "S": 50, "S_KV": 40},
         {**case, "LSE": 1}, {**case, "S": 1, "WINDOW": 9, "SOFT_CAP": 3, "SINKS": 1, "SCALE": 0.5},
         {**case, "B": 5, "VARLEN": 1, "LSE": 1}, {**case, "B": 4, "VARLEN": 1, "WINDOW": 7, "SINKS": 1}]
for one in cases:
    why = refused(one, {})
    assert why is None, (one, why)
print(f"{len(cases)} right answers are accepted")
random.seed(25)  # a sink far below zero would hardly be missed
window, capped, sink = {**case, "WINDOW": 7}, {**case, "SOFT_CAP": 2}, {**case, "SINKS": 1}
packed = {**case, "B": 5, "VARLEN": 1}
nan = float("nan")
for name, of, wrong in [
        ("no mask", case, {"CAUSAL": 0}), ("a mask", {**case, "CAUSAL": 0}, {"CAUSAL": 1}),
        ("a window of one more", window, {"WINDOW": 8}), ("a window of one less", window, {"WINDOW": 6}),
        ("no window", window, {"WINDOW": 0}), ("no future keys", {**window, "CAUSAL": 0}, {"CAUSAL": 1}),
        ("no soft cap", capped, {"SOFT_CAP": 0}), ("another soft cap", capped, {"SOFT_CAP": 3}),
        ("no sinks", sink, {"SINKS": 0}), ("another scale", case, {"SCALE": 0.2}),
        ("NaN", case, lambda o, lse: (Tensor([nan] * len(o.numbers), *o.shape), lse)),
        ("zeros", case, lambda o, lse: (Tensor([0] * len(o.numbers), *o.shape), lse)),
        ("another head's O", case, lambda o, lse: (Tensor(o.numbers[len(o.numbers) // 2:] * 2, *o.shape), lse)),
        ("[B, S, H, D]", case, lambda o, lse: (Tensor(o.numbers, 2, 40, 4, 16), lse)),
        ("no mask of packed sequences", packed, {"CAUSAL": 0}),
        ("one sequence of all", packed, {"starts": lambda q, k: ([0] * 5 + q[-1:], [0] * 5 + k[-1:]), "S": 400, "S_KV": 400}),
        ("no log-sum-exp", {**case, "LSE": 1}, lambda o, lse: o),
        ("base 2", {**case, "LSE": 1}, lambda o, lse: (o, Tensor((number / 0.6931 for number in lse.numbers), *lse.shape)))]:
    assert refused(of, wrong) is not None, name
    print("refused:", name)
PYTHON
cat >decode.py <<'PYTHON'
from numbers_of import *
import baseline

ORDER = ["B", "H", "H_KV", "S", "S_KV", "D", "PAGE", "RAGGED", "CAUSAL", "BF16", "FP8", "BSHD", "LSE", "SCALE"]
reference = ctypes.CDLL("./decode.so").attention_decode_reference
baseline.torch.randn = lambda *shape, **options: drawn(*shape)


def answer(cache, case, lengths, table):
    """O and the log-sum-exp of reference.c; of one query [B, S, H, D] is [B, H_KV, H / H_KV, S, D]."""
    o, lse = (ctypes.c_double * len(cache.q.numbers))(), (ctypes.c_double * (case["B"] * case["H"]))()
    lengths, table = ((ctypes.c_int32 * len(all))(*all) for all in (lengths, table))
    given = [halves(cache.q), halves(cache.k), halves(cache.v), None, None, None, None, lengths, table, o, lse]
    reference(dimensions(case, ORDER), (ctypes.c_void_p * 11)(*(one and address(one) for one in given)))
    groups = case["B"], case["H_KV"], case["H"] // case["H_KV"], 1
    return Tensor(o, *groups, case["D"]), Tensor(lse, case["B"], case["H"], 1)


case = {"B": 5, "H": 6, "H_KV": 2, "S": 1, "S_KV": 60, "D": 16, "PAGE": 8, "RAGGED": 1, "CAUSAL": 1, "BF16": 0, "FP8": 0,
        "BSHD": 1, "LSE": 1, "SCALE": 0}
random.seed(26)
for extra in ({}, {"PAGE": 0}, {"PAGE": 1, "SCALE": 0.5, "LSE": 0}, {"RAGGED": 0}):
    one = {**case, **extra}
    cache = baseline.Cache(one)
    pages = -(-one["S_KV"] // one["PAGE"]) if one["PAGE"] else 1
    table = [page for own in cache.sequence_pages for page in own + [0] * (pages - len(own))]
    less, other = [max(0, length - 1) for length in cache.lengths], table[pages:] + table[:pages]
    check = lambda o, lse: baseline.check((o, lse) if one["LSE"] else o, cache)
    assert check(*answer(cache, one, cache.lengths, table)) is None, extra
    assert check(*answer(cache, one, less, table)) is not None, extra
    assert check(*answer(cache, {**one, "SCALE": 0.3}, cache.lengths, table)) is not None, extra
    assert not one["PAGE"] or check(*answer(cache, one, cache.lengths, other)) is not None, extra
    o, lse = answer(cache, one, cache.lengths, table)
    assert one["LSE"] == 0 or baseline.check((o, lse, 0.6931), cache) is not None
print("pages, lengths and scales of a cache: right answers are accepted, others are refused")
PYTHON
python3 answers.py "$ROOT/templates/attention_fwd"
python3 decode.py "$ROOT/templates/attention_decode"
