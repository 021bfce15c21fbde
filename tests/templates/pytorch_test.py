"""The templates' CPU references against PyTorch in double precision; run by pytorch_test.sh.

usage: pytorch_test.py TEMPLATES CC FOLDER    (FOLDER is for what is built)
"""
import ctypes, os, subprocess, sys
import torch

templates, compiler, folder = sys.argv[1:]
torch.manual_seed(1)


def reference(template, function):
    library = os.path.join(folder, template + ".so")
    source = os.path.join(templates, template, "reference.c")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    return getattr(ctypes.CDLL(library), function)


def call(function, dimensions, inputs, output):
    tensors = [*inputs, output]
    pointers = (ctypes.c_void_p * len(tensors))(*(t.data_ptr() for t in tensors))
    function((ctypes.c_int64 * len(dimensions))(*dimensions), pointers)


def attention(B, H, S, S_KV, D, causal):
    q = torch.randn(B, H, S, D).half()
    k, v = torch.randn(B, H, S_KV, D).half(), torch.randn(B, H, S_KV, D).half()
    seen = torch.ones(S, S_KV, dtype=torch.bool)
    if causal:
        seen = seen.tril(S_KV - S)
    wanted = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), attn_mask=seen)
    wanted[:, :, ~seen.any(1)] = 0  # a query that sees no key
    got = torch.full((B, H, S, D), float("nan"), dtype=torch.float64)
    call(reference("attention_fwd", "attention_fwd_reference"), [B, H, S, S_KV, D, causal], [q, k, v], got)
    return got, wanted


def softmax(rows, columns, wide):
    x = torch.randn(rows, columns) * 4
    x = x if wide else x.half()
    got = torch.full((rows, columns), float("nan"), dtype=torch.float64)
    call(reference("softmax_rows", "softmax_rows_reference"), [rows, columns, wide], [x], got)
    return got, torch.softmax(x.double(), 1)


cases = [(attention, (2, 3, 37, 37, 64, 0)), (attention, (1, 2, 40, 70, 128, 1)), (attention, (1, 1, 9, 4, 64, 1)),
         (attention, (1, 1, 1, 130, 128, 0)), (softmax, (5, 77, 0)), (softmax, (3, 500, 1))]
wrong = 0
for what, case in cases:
    got, wanted = what(*case)
    error = ((got - wanted).norm() / wanted.norm()).item()
    good = error < 1e-12  # NaN is not
    wrong += not good
    print(f"{what.__name__} {case}: {error:.1e}{'' if good else ': differs from PyTorch'}")
sys.exit(wrong > 0)
