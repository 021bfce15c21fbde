"""Compares the templates' CPU references with PyTorch in double precision; run by pytorch_test.sh.

usage: pytorch_test.py TEMPLATES CC FOLDER    (FOLDER gets the build products)
"""
import ctypes, os, struct, subprocess, sys
import torch

templates, compiler, folder = sys.argv[1:]
torch.manual_seed(1)


def reference(template, function):
    library = os.path.join(folder, template + ".so")
    source = os.path.join(templates, template, "reference.c")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    return getattr(ctypes.CDLL(library), function)


def call(function, dimensions, inputs, *outputs):
    tensors = [*inputs, *outputs]
    pointers = (ctypes.c_void_p * len(tensors))(*(t.data_ptr() for t in tensors))
    function((ctypes.c_int64 * len(dimensions))(*dimensions), pointers)


def bits(number):
    return struct.unpack("<I", struct.pack("<f", number))[0]


def attention(B, H, S, D, H_KV=0, S_KV=0, causal=0, bf16=0, bshd=0, lse=0, scale=0.0, gap=0):
    H_KV, S_KV = H_KV or H, S_KV or S
    dtype = torch.bfloat16 if bf16 else torch.half

    def tensor(heads, rows, gap=0):  # with a gap: a view of columns of a wider tensor
        made = torch.randn(B, rows, heads * D + gap) if bshd else torch.randn(B, heads, rows, D + gap)
        made = made.to(dtype)
        return made[..., : heads * D].unflatten(2, (heads, D)) if bshd else made[..., :D]

    def by_head(tensor):  # as SDPA takes it: a view of (B,S,H,D)
        return tensor.transpose(1, 2) if bshd else tensor

    q, k, v = tensor(H, S, gap), tensor(H_KV, S_KV, gap), tensor(H_KV, S_KV)
    seen = torch.ones(S, S_KV, dtype=torch.bool)
    if causal:
        seen = seen.tril(S_KV - S)
    query, key, value = (by_head(t).double() for t in (q, k, v))
    key, value = (t.repeat_interleave(H // H_KV, 1) for t in (key, value))
    # The scale as the kernel gets it, a float. PyTorch's own default is the same as 0.
    given = {"scale": struct.unpack("<f", struct.pack("<f", scale))[0]} if scale else {}
    wanted = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=seen, **given)
    wanted[:, :, ~seen.any(1)] = 0  # a query that sees no key
    got = torch.full(q.shape, float("nan"), dtype=torch.float64)
    logs = torch.full((B, H, S), float("nan"), dtype=torch.float64)
    call(reference("attention_fwd", "attention_fwd_reference"),
         [B, H, H_KV, S, S_KV, D, causal, bf16, bshd, lse, bits(scale), gap], [q, k, v], got, logs)
    pairs = [(by_head(got), wanted)]
    if lse:
        scores = query @ key.transpose(2, 3) * given.get("scale", D**-0.5)
        wanted_logs = torch.logsumexp(scores.masked_fill(~seen, float("-inf")), 3)
        assert torch.equal(logs.isinf(), wanted_logs.isinf())
        pairs.append((logs[logs.isfinite()], wanted_logs[wanted_logs.isfinite()]))
    return pairs


def softmax(rows, columns, wide):
    x = torch.randn(rows, columns) * 4
    x = x if wide else x.half()
    got = torch.full((rows, columns), float("nan"), dtype=torch.float64)
    call(reference("softmax_rows", "softmax_rows_reference"), [rows, columns, wide], [x], got)
    return [(got, torch.softmax(x.double(), 1))]


cases = [(attention, dict(B=2, H=3, S=37, D=64)), (attention, dict(B=1, H=2, S=40, S_KV=70, D=128, causal=1)),
         (attention, dict(B=1, H=1, S=9, S_KV=4, D=64, causal=1, lse=1)), (attention, dict(B=1, H=1, S=1, S_KV=130, D=128)),
         (attention, dict(B=2, H=6, H_KV=2, S=20, S_KV=33, D=64, lse=1)),
         (attention, dict(B=2, H=3, S=21, S_KV=35, D=64, bshd=1, scale=0.3)),
         (attention, dict(B=1, H=2, S=30, D=128, bf16=1, lse=1)),
         (attention, dict(B=2, H=4, H_KV=2, S=20, S_KV=31, D=64, gap=24)),
         (attention, dict(B=2, H=4, H_KV=2, S=20, S_KV=31, D=64, bshd=1, gap=128)),
         (attention, dict(B=2, H=4, H_KV=1, S=18, S_KV=40, D=64, causal=1, bf16=1, bshd=1, lse=1, scale=0.05)),
         (softmax, dict(rows=5, columns=77, wide=0)), (softmax, dict(rows=3, columns=500, wide=1))]
wrong = 0
for what, case in cases:
    errors = [((got - wanted).norm() / wanted.norm()).item() for got, wanted in what(**case)]
    good = all(error < 1e-12 for error in errors)  # NaN is not
    wrong += not good
    text = " ".join(f"{error:.1e}" for error in errors)
    print(f"{what.__name__} {case}: {text}{'' if good else ': differs from PyTorch'}")
sys.exit(wrong > 0)
