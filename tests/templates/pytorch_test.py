"""Compares the templates' CPU references with PyTorch in double precision; run by pytorch_test.sh.

usage: pytorch_test.py TEMPLATES CC FOLDER    (FOLDER gets the build products)

A case names dimensions of problem.json or template.json, in their order there; those it leaves out are 0. Every
dimension must be other than 0 in some case.
"""
import ctypes, json, os, re, struct, subprocess, sys
import torch

templates, compiler, folder = sys.argv[1:]
torch.manual_seed(1)


def dimensions(template):
    for name in "problem.json", "template.json":
        path = os.path.join(templates, template, name)
        if os.path.exists(path):
            text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*', lambda match: match[1] or "", open(path).read())
            return list(json.loads(text)["dimensions"])


def reference(template):
    library = os.path.join(folder, template + ".so")
    source = os.path.join(templates, template, "reference.c")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    return getattr(ctypes.CDLL(library), template + "_reference")


def as_float(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def bits(number):
    return struct.unpack("<I", struct.pack("<f", number))[0]


def call(template, case, tensors):
    """Calls the reference; None stands for a tensor that is absent."""
    assert not set(case) - set(dimensions(template)), f"{template} has no dimension {set(case) - set(dimensions(template))}"
    numbers = [bits(case.get(name, 0)) if name == "SCALE" else case.get(name, 0) for name in dimensions(template)]
    pointers = (ctypes.c_void_p * len(tensors))(*(None if t is None else t.data_ptr() for t in tensors))
    reference(template)((ctypes.c_int64 * len(numbers))(*numbers), pointers)


def nans(*shape):
    return torch.full(shape, float("nan"), dtype=torch.float64)


def log_pair(got, wanted):
    assert torch.equal(got.isinf(), wanted.isinf())
    return got[got.isfinite()], wanted[wanted.isfinite()]


def attend(query, key, value, seen, scale, cap=0, sinks=None):
    """The output and the log-sum-exp of [B, H, S, D] in double precision; zeros of a query that sees nothing."""
    scores = query @ key.transpose(2, 3) * scale
    scores = (cap * torch.tanh(scores / cap) if cap else scores).masked_fill(~seen, float("-inf"))
    if sinks is not None:
        scores = torch.cat([scores, sinks.double()[None, :, None, None].expand(*scores.shape[:3], 1)], 3)
    shares = torch.softmax(scores, 3).nan_to_num(0)[..., : key.shape[2]]
    wanted = shares @ value
    if not cap and sinks is None and key.shape[2] > 0:  # another way where there is one
        fused = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=seen, scale=scale)
        assert torch.allclose(fused.nan_to_num(0).masked_fill(~seen.any(-1, keepdim=True), 0), wanted, rtol=1e-9, atol=1e-12)
    return wanted, torch.logsumexp(scores, 3)


def starts(total, sequences):
    """Where each of the packed sequences begins, and the last one ends: some are empty."""
    cuts = torch.randint(0, total + 1, (sequences - 1,)).sort().values
    return torch.cat([torch.tensor([0]), cuts, torch.tensor([total])]).to(torch.int32)


def attention_fwd(case):
    H, D = case["H"], case["D"]
    case = {"H_KV": H, "DV": D, **case}
    begins = [None, None]
    if case.get("VARLEN"):
        begins = [starts(case[total], case["B"]) for total in ("TOTAL_Q", "TOTAL_K")]
        batches, rows, rows_kv = 1, case["TOTAL_Q"], case["TOTAL_K"]
        case["S"], case["S_KV"] = (of.diff().max().item() for of in begins)
        parts = list(zip(*(t.tolist() for of in begins for t in (of[:-1], of[1:]))))
    else:
        case = {"S_KV": case["S"], **case}
        batches, rows, rows_kv = case["B"], case["S"], case["S_KV"]
        parts = [(0, rows, 0, rows_kv)]
    H_KV, DV = case["H_KV"], case["DV"]
    bshd, window, dtype = case.get("BSHD"), case.get("WINDOW", 0), torch.bfloat16 if case.get("BF16") else torch.half

    def tensor(heads, rows, columns, gap=0):  # with a gap: a view of columns of a wider tensor
        made = torch.randn(batches, rows, heads * columns + gap) if bshd else torch.randn(batches, heads, rows, columns + gap)
        made = made.to(dtype)
        return made[..., : heads * columns].unflatten(2, (heads, columns)) if bshd else made[..., :columns]

    def by_head(tensor):  # as SDPA takes it: a view of (B,S,H,D)
        return tensor.transpose(1, 2) if bshd else tensor

    def mask(queries, keys):
        distance = torch.arange(queries)[:, None] + keys - queries - torch.arange(keys)[None]  # from a key before
        seen = torch.ones(queries, keys, dtype=torch.bool)
        if case.get("CAUSAL"):
            seen &= distance >= 0
        return seen & (distance < window) if window else seen

    gap = case.get("GAP", 0)
    q, k, v = tensor(H, rows, D, gap), tensor(H_KV, rows_kv, D, gap), tensor(H_KV, rows_kv, DV)
    query, key, value = (by_head(t).double() for t in (q, k, v))
    key, value = (t.repeat_interleave(H // H_KV, 1) for t in (key, value))
    sinks = torch.randn(H) * 2 if case.get("SINKS") else None
    # The scale as the kernel gets it, a float. PyTorch's own default is the same as 0.
    scale = as_float(case.get("SCALE", 0)) or D**-0.5
    each = [attend(query[:, :, a:b], key[:, :, c:d], value[:, :, c:d], mask(b - a, d - c), scale, case.get("SOFT_CAP", 0), sinks)
            for a, b, c, d in parts]
    wanted, wanted_logs = (torch.cat(list(of), 2) for of in zip(*each))
    got, logs = nans(*q.shape[:3], DV), nans(batches, H, rows)
    call("attention_fwd", case, [q, k, v, got, logs if case.get("LSE") else None, sinks, *begins])
    return [(by_head(got), wanted)] + ([log_pair(logs, wanted_logs)] if case.get("LSE") else [])


def attention_decode(case):
    B, H, S, S_KV, D = (case[name] for name in ("B", "H", "S", "S_KV", "D"))
    case = {"H_KV": H, **case}
    H_KV, bshd, dtype = case["H_KV"], case.get("BSHD"), torch.bfloat16 if case.get("BF16") else torch.half
    rows = case.get("PAGE") or S_KV
    pages = -(-S_KV // rows)
    lengths = torch.randint(0, S_KV + 1, (B,), dtype=torch.int32) if case.get("RAGGED") else torch.full((B,), S_KV, dtype=torch.int32)
    table = (torch.randperm(B * pages).reshape(B, pages) if case.get("PAGE") else torch.arange(B)[:, None]).to(torch.int32)
    shape = (B * pages, rows, H_KV, D) if bshd else (B * pages, H_KV, rows, D)
    k, v = (torch.randn(shape).to(torch.float8_e4m3fn if case.get("FP8") else dtype) for _ in range(2))
    q = torch.randn((B, S, H, D) if bshd else (B, H, S, D)).to(dtype)
    scales = [torch.rand(H_KV) + 0.5 for _ in range(2)]

    def by_head(tensor):
        return tensor.transpose(1, 2) if bshd else tensor

    def keys_of(cache, scale):  # [B, H, S_KV, D]
        heads = by_head(cache.double()) * (scale.double()[None, :, None, None] if case.get("FP8") else 1)
        return torch.stack([torch.cat(list(heads[table[b].long()]), 1)[:, :S_KV] for b in range(B)]).repeat_interleave(H // H_KV, 1)

    index, length = torch.arange(S_KV), lengths.long()[:, None, None, None]
    seen = index < (length + torch.arange(S)[:, None] + 1 - S if case.get("CAUSAL") else length)
    wanted, wanted_logs = attend(by_head(q).double(), keys_of(k, scales[0]), keys_of(v, scales[1]), seen.expand(B, H, S, S_KV),
                                 as_float(case.get("SCALE", 0)) or D**-0.5)
    got, logs = nans(*q.shape), nans(B, H, S)
    caches = [None, None, k, v, *scales] if case.get("FP8") else [k, v, None, None, None, None]
    call("attention_decode", case, [q, *caches, lengths, table if case.get("PAGE") else None, got, logs if case.get("LSE") else None])
    return [(by_head(got), wanted)] + ([log_pair(logs, wanted_logs)] if case.get("LSE") else [])


def softmax_rows(case):
    x = torch.randn(case["ROWS"], case["COLS"]) * 4
    x = x if case.get("F32") else x.half()
    got = nans(*x.shape)
    call("softmax_rows", case, [x, got])
    return [(got, torch.softmax(x.double(), 1))]


cases = {
    attention_fwd: [
        dict(B=2, H=3, S=37, D=64), dict(B=1, H=2, S=40, S_KV=70, D=128, CAUSAL=1),
        dict(B=1, H=1, S=9, S_KV=4, D=64, CAUSAL=1, LSE=1), dict(B=1, H=1, S=1, S_KV=130, D=128),
        dict(B=2, H=6, H_KV=2, S=20, S_KV=33, D=64, LSE=1),
        dict(B=2, H=3, S=21, S_KV=35, D=64, BSHD=1, SCALE=0.3),
        dict(B=1, H=2, S=30, D=128, BF16=1, LSE=1),
        dict(B=2, H=4, H_KV=2, S=20, S_KV=31, D=64, GAP=24),
        dict(B=2, H=4, H_KV=2, S=20, S_KV=31, D=64, BSHD=1, GAP=128),
        dict(B=2, H=4, H_KV=1, S=18, S_KV=40, D=64, CAUSAL=1, BF16=1, BSHD=1, LSE=1, SCALE=0.05),
        dict(B=2, H=2, S=33, S_KV=50, D=192, DV=128, CAUSAL=1, BSHD=1, LSE=1),
        dict(B=1, H=2, S=40, D=32, WINDOW=7, LSE=1), dict(B=1, H=2, S=40, S_KV=25, D=32, CAUSAL=1, WINDOW=7, LSE=1),
        dict(B=1, H=4, H_KV=2, S=20, D=256, DV=64, SOFT_CAP=3, LSE=1),
        dict(B=2, H=4, H_KV=2, S=20, S_KV=9, D=96, CAUSAL=1, SINKS=1, LSE=1),
        dict(B=2, H=4, H_KV=2, S=45, S_KV=60, D=96, CAUSAL=1, WINDOW=13, SOFT_CAP=20, SINKS=1, LSE=1, BF16=1, GAP=8),
        dict(B=7, H=4, H_KV=2, D=64, VARLEN=1, TOTAL_Q=60, TOTAL_K=75, LSE=1),
        dict(B=5, H=2, D=96, VARLEN=1, TOTAL_Q=80, TOTAL_K=40, CAUSAL=1, WINDOW=9, SINKS=1, LSE=1, BSHD=1, GAP=16),
    ],
    attention_decode: [
        dict(B=3, H=2, S=1, S_KV=70, D=128, RAGGED=1, LSE=1),
        dict(B=4, H=6, H_KV=2, S=3, S_KV=45, D=64, RAGGED=1, CAUSAL=1, BSHD=1, BF16=1, SCALE=0.3, LSE=1),
        dict(B=3, H=4, H_KV=1, S=16, S_KV=50, D=64, PAGE=16, RAGGED=1, CAUSAL=1, LSE=1),
        dict(B=3, H=4, H_KV=2, S=2, S_KV=30, D=128, PAGE=1, BSHD=1),
        dict(B=2, H=4, H_KV=2, S=5, S_KV=150, D=64, PAGE=64, RAGGED=1, FP8=1, BF16=1, LSE=1),
    ],
    softmax_rows: [dict(ROWS=5, COLS=77), dict(ROWS=3, COLS=500, F32=1)],
}
wrong = 0
for compare, all_cases in cases.items():
    for case in all_cases:
        errors = [((got - wanted).norm() / wanted.norm()).item() for got, wanted in compare(case)]
        good = all(error < 1e-12 for error in errors)  # NaN is not
        wrong += not good
        text = " ".join(f"{error:.1e}" for error in errors)
        print(f"{compare.__name__} {case}: {text}{'' if good else ': differs from PyTorch'}")
    for name in dimensions(compare.__name__):
        if not any(case.get(name) for case in all_cases):
            wrong += 1
            print(f"{compare.__name__}: no case sets {name}: add one")
sys.exit(wrong > 0)
