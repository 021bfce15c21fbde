# A rival that computes something else than attention does not count: baseline.py's check of an answer. The right answers,
# and those of other masks, scales and heads, come from reference.c, with which ours are compared. PyTorch is a stand-in.
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$ROOT/tests/cli/stand_in:$ROOT/templates/lib
cc -O2 -shared -fPIC -o reference.so "$ROOT/templates/attention_fwd/reference.c" -lm
cat >answers.py <<'PYTHON'
import ctypes
import random
import struct
import sys

import torch  # the stand-in
sys.modules.update({f"torch.nn.{name}": torch for name in ("attention", "attention.bias")})
sys.path.insert(0, sys.argv[1])
import baseline

ORDER = ["B", "H", "H_KV", "S", "S_KV", "D", "CAUSAL", "BF16", "BSHD", "LSE", "SCALE", "GAP", "DV", "WINDOW", "SOFT_CAP",
         "SINKS"]
reference = ctypes.CDLL("./reference.so").attention_fwd_reference


class Tensor:
    """Contiguous numbers of a shape."""
    def __init__(self, numbers, *shape):
        self.numbers, self.shape = list(numbers), shape

    def __getitem__(self, key):
        first, *rest = key if isinstance(key, tuple) else (key,)
        step = len(self.numbers) // self.shape[0]
        if isinstance(first, slice):
            return Tensor(self.numbers[first.start * step : first.stop * step], first.stop - first.start, *self.shape[1:])
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


def answer(case, q, k, v, sinks):
    """O and the log-sum-exp of reference.c, from halves."""
    case = {**case, "BF16": 0}
    packed = [struct.pack(f"{len(one.numbers)}e", *one.numbers) for one in (q, k, v)]
    rows = len(q.numbers) // case["D"]
    o, lse = (ctypes.c_double * (rows * case["DV"]))(), (ctypes.c_double * rows)()
    given = [int.from_bytes(struct.pack("f", case[name]), "little") if name == "SCALE" else case[name] for name in ORDER]
    sink_numbers = (ctypes.c_float * case["H"])(*(sinks.numbers if sinks else [0] * case["H"]))
    reference((ctypes.c_int64 * 16)(*given), (ctypes.c_void_p * 6)(
        *(ctypes.cast(ctypes.c_char_p(one), ctypes.c_void_p) for one in packed),
        *(ctypes.cast(one, ctypes.c_void_p) for one in (o, lse, sink_numbers))))
    extents = case["B"], case["H"], case["S"]
    return Tensor(o, *extents, case["DV"]), Tensor(lse, *extents)


def refused(case, wrong):
    """Whether an answer of another case, with other dimensions as `wrong` says, or changed by it, is refused."""
    sinks = drawn(case["H"]) if case["SINKS"] else None
    inputs = (drawn(case["B"], case["H"], case["S"], case["D"]), drawn(case["B"], case["H_KV"], case["S_KV"], case["D"]),
              drawn(case["B"], case["H_KV"], case["S_KV"], case["DV"]), sinks)
    result = wrong(*answer(case, *inputs)) if callable(wrong) else answer({**case, **wrong}, *inputs)
    result = result if case["LSE"] or not isinstance(result, tuple) else result[0]
    return baseline.check(result, case, *inputs)


case = {"B": 2, "H": 4, "H_KV": 2, "S": 40, "S_KV": 50, "D": 32, "CAUSAL": 1, "BF16": 0, "BSHD": 0, "LSE": 0, "SCALE": 0,
        "GAP": 0, "DV": 16, "WINDOW": 0, "SOFT_CAP": 0, "SINKS": 0}
cases = [case, {**case, "CAUSAL": 0}, {**case, "WINDOW": 7}, {**case, "WINDOW": 7, "CAUSAL": 0}, {**case, "SOFT_CAP": 2},
         {**case, "SINKS": 1, "BF16": 1, "LSE": 1}, {**case, "S": 50, "S_KV": 40, "SINKS": 1}, {**case, "S": 50, "S_KV": 40},
         {**case, "LSE": 1}, {**case, "S": 1, "WINDOW": 9, "SOFT_CAP": 3, "SINKS": 1, "SCALE": 0.5}]
for one in cases:
    why = refused(one, {})
    assert why is None, (one, why)
print(f"{len(cases)} right answers are accepted")
random.seed(25)  # a sink far below zero would hardly be missed
window, capped, sink = {**case, "WINDOW": 7}, {**case, "SOFT_CAP": 2}, {**case, "SINKS": 1}
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
        ("no log-sum-exp", {**case, "LSE": 1}, lambda o, lse: o),
        ("base 2", {**case, "LSE": 1}, lambda o, lse: (o, Tensor((number / 0.6931 for number in lse.numbers), *lse.shape)))]:
    assert refused(of, wrong) is not None, name
    print("refused:", name)
PYTHON
python3 answers.py "$ROOT/templates/attention_fwd"
