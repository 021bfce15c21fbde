"""Runs an export's PyTorch operators with the real PyTorch, on tensors of the CPU and with a launcher that stands in for
the kernel (attention_stand_in.c): torch_program.py FOLDER NAME compiled|ctypes."""
import ctypes
import importlib
import os
import random
import sys

import torch

folder, name, backend = sys.argv[1:]
sys.path.insert(0, folder)
kernel = importlib.import_module(name)
assert kernel.backend == backend, kernel.backend
operators = getattr(torch.ops, name)
stand_in = ctypes.CDLL(os.path.join(folder, f"lib{name}_torch.so" if backend == "compiled" else f"lib{name}.so"))
calls = ctypes.c_int.in_dll(stand_in, "stand_in_calls")
sdpa = torch.nn.functional.scaled_dot_product_attention


def attention(q, k, v, causal=False, scale=None, bottom=False):
    """In double precision; `bottom`: the mask ends at the last key."""
    q, k, v = (tensor.double() for tensor in (q, k, v))
    k, v = (tensor.repeat_interleave(q.shape[1] // tensor.shape[1], 1) for tensor in (k, v))
    scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
    if causal:
        ones = torch.ones(scores.shape[-2:], dtype=torch.bool)
        scores = scores.masked_fill(~ones.tril(k.shape[2] - q.shape[2] if bottom else 0), -torch.inf)
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


def close(a, b, dtype):
    assert a.shape == b.shape, (a.shape, b.shape)
    error = (a.double() - b).norm() / b.norm()
    assert error < (1e-3 if dtype == torch.float16 else 8e-3), error


def ran(function, count=1):
    """The result of a function that calls the kernel so often."""
    before = calls.value
    result = function()
    assert calls.value == before + count, f"{calls.value - before} calls of the kernel, and not {count}"
    return result


def tensors(b=2, h=4, h_kv=2, s=9, s_kv=9, d=64, dv=None, dtype=torch.float16):
    return (torch.randn(b, h, s, d, dtype=dtype), torch.randn(b, h_kv, s_kv, d, dtype=dtype),
            torch.randn(b, h_kv, s_kv, dv or d, dtype=dtype))


# ---- views: each way to store q, k and v ----

def rows_first(x):  # [B, S, H, D] in memory
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def wide(x, gap=8):  # columns of a wider tensor
    return torch.cat([x, torch.full_like(x[..., :1], 7e3).expand(*x.shape[:3], gap)], -1)[..., : x.shape[3]]


def uneven(x):  # rows that are not at multiples of 16 bytes
    return wide(x, 3)


def shifted(x):  # an address that is not
    room = torch.empty(x.numel() + 1, dtype=x.dtype)
    return room[1:].view(x.shape).copy_(x)


def transposed(x):  # the last extent is not dense
    return x.mT.contiguous().mT


def every_other(x):
    return x.repeat_interleave(2, 2)[:, :, ::2]


def permuted(x):
    return x.permute(2, 0, 1, 3).contiguous().permute(1, 2, 0, 3)


views = [lambda x: x, rows_first, wide, uneven, shifted, transposed, every_other, permuted]


def check_views():
    for q_view in views:
        for k_view in views:
            q, k, v = tensors(dv=32)
            o = ran(lambda: operators.scaled_dot_product_attention(q_view(q), k_view(k), k_view(v), is_causal=True))
            close(o, attention(q, k, v, True)[0], q.dtype)
    # Expanded tensors: a stride of 0 is none of a tensor map, and all 0 would mean a packed tensor.
    q, k, v = tensors()
    for shape in ((1, 1, 1, 64), (2, 1, 9, 64), (1, 2, 9, 64), (2, 2, 1, 64)):
        few = torch.randn(shape, dtype=q.dtype).expand(2, 2, 9, 64)
        close(ran(lambda: operators.scaled_dot_product_attention(q, few, few)), attention(q, few, few)[0], q.dtype)
    # Extents of 1, whose strides mean nothing.
    q = torch.randn(1, 1, 64, dtype=q.dtype).as_strided((1, 1, 1, 64), (1, 3, 5, 1))
    close(ran(lambda: operators.scaled_dot_product_attention(q, q, q)), q.double(), q.dtype)
    # The result has the memory order of q, so that heads are joined without a copy.
    q, k, v = tensors()
    joined = operators.scaled_dot_product_attention(rows_first(q), k, v).transpose(1, 2).view(2, 9, -1)
    close(joined, attention(q, k, v)[0].transpose(1, 2).reshape(2, 9, -1), q.dtype)


def check_forward():
    for dtype in (torch.float16, torch.bfloat16):
        q, k, v = tensors(s=7, s_kv=12, dtype=dtype)
        o, lse = ran(lambda: kernel_forward(q, k, v, CAUSAL=1, LSE=1, SCALE=0.3))
        want, want_lse = attention(q, k, v, True, 0.3, bottom=True)
        close(o, want, dtype)
        close(lse, want_lse.flatten(), dtype)
        assert kernel_forward(q, k, v)[1].numel() == 0


def kernel_forward(*arguments, **numbers):
    return kernel.forward(*arguments, **numbers)


# ---- calls that no kernel fits ----

def check_fallbacks():
    q, k, v = tensors(h_kv=4)
    long = tensors(h_kv=4, s=201, s_kv=201)
    others = [
        ((q, k, v), {"attn_mask": torch.ones(9, 9, dtype=torch.bool).tril()}),
        ((q, k, v), {"scale": 0.0}),
        ((q, k, v), {"scale": -0.2}),
        ((q, *tensors(h_kv=4, s_kv=12)[1:]), {"is_causal": True}),
        ((q[0], k[0], v[0]), {}),
        ((q, k[:1], v[:1]), {}),
        ((q[..., :48], k[..., :48], v[..., :48]), {}),
        ((q.float(), k.float(), v.float()), {}),
        (long, {"is_causal": True}),
        ((rows_first(long[0]), long[1], long[2]), {}),
    ]
    for arguments, keywords in others:
        got = ran(lambda: operators.scaled_dot_product_attention(*arguments, **keywords), 0)
        assert torch.equal(got, sdpa(*arguments, **keywords)), keywords
    for operands in (long, (q, k.float(), v), (q, k[:1], v), (q, k, v[:, :, :3])):
        try:
            kernel.forward(*operands)
        except RuntimeError as error:
            assert name in str(error), error
        else:
            raise AssertionError("forward accepts what no kernel fits")
    kernel.set_fallback(lambda q, k, v, sinks, cu_seqlens_q, cu_seqlens_k, CAUSAL, **numbers:
                        (sdpa(q, k, v, is_causal=bool(CAUSAL)), torch.empty(0)))
    got = ran(lambda: kernel.forward(*long, CAUSAL=1), 0)[0]
    assert torch.equal(got, sdpa(*long, is_causal=True))
    close(ran(lambda: kernel.forward(q, k, v))[0], attention(q, k, v)[0], q.dtype)
    kernel.set_fallback(None)


def check_gradients():
    q, k, v = tensors(h_kv=4)
    q.requires_grad_()
    out = ran(lambda: kernel.scaled_dot_product_attention(q, k, v), 0)
    out.sum().backward()
    assert q.grad is not None
    with torch.no_grad():
        ran(lambda: kernel.scaled_dot_product_attention(q, k, v))


# ---- torch.compile, and what PyTorch says of the operators ----

def check_compile():
    torch._dynamo.reset()

    def model(x, weight):
        q, k, v = (x @ weight).unflatten(-1, (3, 4, 32)).transpose(1, 3).unbind(2)
        return kernel.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)

    compiled = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=True)
    weight = torch.randn(128, 3 * 128, dtype=torch.float16) / 11
    for length in (5, 8, 16, 201):
        x = torch.randn(2, length, 128, dtype=torch.float16)
        want = ran(lambda: model(x, weight), 0 if length > 200 else 1)
        assert torch.equal(ran(lambda: compiled(x, weight), 0 if length > 200 else 1), want)
    masked = torch.compile(lambda q, k, v: kernel.scaled_dot_product_attention(q, k, v, dropout_p=0.5), fullgraph=True,
                           backend="aot_eager")
    ran(lambda: masked(*tensors(h_kv=4)), 0)
    program = torch.export.export(Model(), tensors(h_kv=4))
    values = tensors(h_kv=4)
    close(ran(lambda: program.module()(*values)), attention(*values)[0], torch.float16)


class Model(torch.nn.Module):
    def forward(self, q, k, v):
        return kernel.scaled_dot_product_attention(q, k, v)


def check_opcheck():
    for q_view in views:
        q, k, v = tensors()
        torch.library.opcheck(operators.scaled_dot_product_attention.default, (q_view(q), k, v), {"is_causal": True})
        torch.library.opcheck(operators.forward.default, (q_view(q), k, rows_first(v)), {"LSE": 1})


def check_random_shapes(count):
    random.seed(26)
    for _ in range(count):
        dtype = random.choice((torch.float16, torch.bfloat16))
        h_kv = random.randint(1, 3)
        d = random.choice((32, 64))
        q, k, v = tensors(random.randint(1, 3), h_kv * random.randint(1, 3), h_kv, random.randint(1, 40), random.randint(1, 40), d,
                          random.choice((32, d)), dtype)
        scale, causal = random.choice((None, 0.2)), random.random() < 0.5 and q.shape[2] == k.shape[2]
        q_view, k_view, v_view = (random.choice(views) for _ in range(3))
        o = ran(lambda: operators.scaled_dot_product_attention(q_view(q), k_view(k), v_view(v), is_causal=causal, scale=scale, enable_gqa=True))
        close(o, attention(q, k, v, causal, scale)[0], dtype)


torch.manual_seed(26)
check_views()
check_forward()
check_fallbacks()
check_gradients()
check_compile()
check_opcheck()
check_random_shapes(500)
print(f"{backend}: {calls.value} calls of the kernel")
