"""An export of attention_fwd as operators of PyTorch, on a GPU: torch_operators.py FOLDER, whose name is the kernel's. Prints
a table of what was checked; exits with 1 if something is wrong. tests/gpu/frameworks.sh makes the folder."""
import importlib
import os
import random
import statistics
import sys
import time

import torch

folder = os.path.abspath(sys.argv[1])
name = os.path.basename(folder)
sys.path.insert(0, folder)
kernel = importlib.import_module(name)
operators = getattr(torch.ops, name)
sdpa = torch.nn.functional.scaled_dot_product_attention
failures = []


def row(what, passed, words):
    if not passed:
        failures.append(what)
    print(f"{'ok   ' if passed else 'WRONG'} {what:28} {words}", flush=True)


def attention(q, k, v, causal=False, scale=None):
    """In double precision."""
    q, k, v = (tensor.double() for tensor in (q, k, v))
    k, v = (tensor.repeat_interleave(q.shape[1] // tensor.shape[1], 1) for tensor in (k, v))
    scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
    if causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril(), -torch.inf)
    return scores.softmax(-1) @ v


def error_of(a, b):
    return ((a.double() - b).norm() / b.norm()).item()


def bound(dtype):
    return 2e-3 if dtype == torch.float16 else 1.2e-2


def tensors(b=2, h=8, s=512, d=64, h_kv=None, s_kv=None, dtype=torch.float16, device="cuda"):
    keys = (b, h_kv or h, s_kv or s, d)
    return [torch.randn(shape, dtype=dtype, device=device) for shape in ((b, h, s, d), keys, keys)]


def has_kernel(q, k, v, causal=False, scale=None):
    try:
        operators.forward(q, k, v, CAUSAL=int(causal), SCALE=scale or 0.0)
    except RuntimeError as error:
        assert str(error).startswith(f"{name}: "), error
        return False
    return True


# ---- views ----

def rows_first(x):
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def wide(x, gap=8):
    return torch.cat([x, torch.full_like(x[..., :1], 7e3).expand(*x.shape[:3], gap)], -1)[..., : x.shape[3]]


def shifted(x):
    room = torch.empty(x.numel() + 1, dtype=x.dtype, device=x.device)
    return room[1:].view(x.shape).copy_(x)


views = {
    "packed": lambda x: x, "[B,S,H,D]": rows_first, "wider rows": wide, "uneven rows": lambda x: wide(x, 3), "odd address": shifted,
    "transposed": lambda x: x.mT.contiguous().mT, "expanded": lambda x: x[:, :1].expand(x.shape),
    "one row": lambda x: x[:1, :1, :1].expand(x.shape), "every other": lambda x: x.repeat_interleave(2, 2)[:, :, ::2],
}


def check_views():
    worst, count = 0, 0
    for q_view in views.values():
        for k_view in views.values():
            q, k, v = tensors(b=2, h=4, s=130)
            q, k, v = q_view(q), k_view(k), k_view(v)
            worst = max(worst, error_of(kernel.scaled_dot_product_attention(q, k, v, is_causal=True), attention(q, k, v, True)))
            count += 1
    row("views", worst < bound(torch.float16), f"{count} pairs, largest error {worst:.1e}")


# ---- random shapes ----

def check_shapes(count=500):
    random.seed(26)
    used, worst, worst_sdpa, wrong = 0, 0, 0, []
    for _ in range(count):
        dtype, d = random.choice((torch.float16, torch.bfloat16)), random.choice((64, 128))
        h_kv = random.choice((1, 2, 4, 8))
        h = h_kv * random.choice((1, 1, 2, 4))
        s, causal = random.randint(1, 2048 if random.random() < 0.3 else 300), random.random() < 0.5
        s_kv = s if causal else random.randint(1, 2048 if random.random() < 0.3 else 300)
        scale = random.choice((None, None, 0.2))
        q, k, v = tensors(random.randint(1, 4), h, s, d, h_kv, s_kv, dtype)
        q_view, k_view = random.choice((lambda x: x, rows_first)), random.choice((lambda x: x, rows_first, wide))
        q, k, v = q_view(q), k_view(k), k_view(v)
        used += has_kernel(q, k, v, causal, scale)
        want = attention(q, k, v, causal, scale)
        error = error_of(kernel.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=True), want)
        worst = max(worst, error / bound(dtype))
        worst_sdpa = max(worst_sdpa, error_of(sdpa(q, k, v, is_causal=causal, scale=scale, enable_gqa=True), want) / bound(dtype))
        if not error < bound(dtype):
            wrong.append(f"{tuple(q.shape)} {tuple(k.shape)} {dtype} causal={causal}: {error:.1e}")
    row("random shapes against fp64", not wrong, f"{count} shapes, {used} by a kernel, {count - used} by the fall-back; largest error {worst:.2f} "
        f"of the bound, SDPA's {worst_sdpa:.2f}" + "".join(f"\n      {line}" for line in wrong[:5]))


# ---- graphs, torch.compile, streams, devices ----

def check_graph():
    q, k, v = tensors()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        kernel.scaled_dot_product_attention(q, k, v)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        o = kernel.scaled_dot_product_attention(q, k, v, is_causal=True)
    worst = 0
    for _ in range(5):
        for tensor in (q, k, v):
            tensor.normal_()
        graph.replay()
        worst = max(worst, error_of(o, attention(q, k, v, True)))
    row("CUDA graph", worst < bound(q.dtype), f"5 replays with new inputs, largest error {worst:.1e}")


def check_compile():
    torch._dynamo.reset()
    weight = torch.randn(512, 3 * 512, dtype=torch.float16, device="cuda") / 22

    def model(x, attend):
        q, k, v = (x @ weight).unflatten(-1, (3, 8, 64)).transpose(1, 3).unbind(2)
        return attend(q, k, v, is_causal=True).transpose(1, 2).flatten(2)

    for mode in ("default", "reduce-overhead"):
        compiled = torch.compile(lambda x: model(x, kernel.scaled_dot_product_attention), fullgraph=True, mode=mode)
        x = torch.randn(2, 512, 512, dtype=torch.float16, device="cuda")
        for _ in range(3):
            got = compiled(x).clone()
        error = error_of(got, model(x, sdpa).double())
        row(f"torch.compile, {mode}", error < 2 * bound(x.dtype), f"one graph, differs from SDPA's model by {error:.1e}")
    dynamic = torch.compile(lambda x: model(x, kernel.scaled_dot_product_attention), fullgraph=True, dynamic=True)
    errors = []
    for length in (100, 256, 511):
        x = torch.randn(2, length, 512, dtype=torch.float16, device="cuda")
        errors.append(error_of(dynamic(x), model(x, sdpa).double()))
    row("torch.compile, dynamic", max(errors) < 2 * bound(torch.float16), f"3 lengths, largest difference {max(errors):.1e}")


def check_streams():
    inputs = [tensors(b=4, s=512), tensors(b=1, h=16, s=1024)]
    wants = [attention(*one) for one in inputs]
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    torch.cuda.synchronize()
    results = [[], []]
    for _ in range(50):
        for index, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                results[index].append(kernel.scaled_dot_product_attention(*inputs[index]))
    torch.cuda.synchronize()
    worst = max(error_of(o, want) for os_, want in zip(results, wants) for o in os_)
    row("two streams", worst < bound(torch.float16), f"100 calls, largest error {worst:.1e}")


def check_devices():
    if torch.cuda.device_count() < 2:
        row("two GPUs", True, "not checked: there is one")
        return
    q, k, v = tensors(device="cuda:1")
    o = kernel.scaled_dot_product_attention(q, k, v)
    error = error_of(o, attention(q, k, v))
    row("two GPUs", o.device == q.device and torch.cuda.current_device() == 0 and error < bound(q.dtype), f"error on the other {error:.1e}")


def check_opcheck():
    count = 0
    for view in views.values():
        q, k, v = tensors(b=2, h=4, s=130)
        torch.library.opcheck(operators.scaled_dot_product_attention.default, (view(q), k, v), {"is_causal": True})
        torch.library.opcheck(operators.forward.default, (view(q), k, v), {"LSE": 1})
        count += 2
    row("opcheck", True, f"{count} calls")


# ---- time ----

def host_us(function, calls=2000):
    """Of one call, while the GPU keeps up."""
    for _ in range(200):
        function()
    times = []
    for _ in range(7):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            function()
        times.append((time.perf_counter() - start) / calls * 1e6)
    torch.cuda.synchronize()
    return statistics.median(times)


def check_overhead():
    q, k, v = tensors(1, 1, 128)
    with torch.no_grad():
        ours, theirs = host_us(lambda: kernel.scaled_dot_product_attention(q, k, v)), host_us(lambda: sdpa(q, k, v))
        direct = host_us(lambda: operators.scaled_dot_product_attention.default(q, k, v))
        empty = host_us(lambda: torch.empty_like(q))
    row("eager call", kernel.backend == "ctypes" or ours < theirs + 2,
        f"{ours:.2f} us, SDPA {theirs:.2f} us; the operator alone {direct:.2f} us, torch.empty_like {empty:.2f} us")


def check_model():
    """A small transformer with random weights, with and without: tokens a second, and the most likely tokens."""
    torch.manual_seed(26)
    width, heads, layers, length = 512, 8, 6, 512
    shapes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    weights = [[torch.randn(shape, dtype=torch.float16, device="cuda") * shape[0] ** -0.5 for shape in shapes] for _ in range(layers)]
    table = torch.randn(1000, width, dtype=torch.float16, device="cuda")
    tokens = torch.randint(0, 1000, (2, length), device="cuda")

    def model(attend):
        x = table[tokens]
        for qkv, out, up, down in weights:
            q, k, v = (torch.nn.functional.layer_norm(x, (width,)) @ qkv).unflatten(-1, (3, heads, -1)).transpose(1, 3).unbind(2)
            x = x + attend(q, k, v, is_causal=True).transpose(1, 2).flatten(2) @ out
            x = x + torch.nn.functional.gelu(torch.nn.functional.layer_norm(x, (width,)) @ up) @ down
        return torch.nn.functional.layer_norm(x, (width,)) @ table.T

    with torch.no_grad():
        ours, theirs = model(kernel.scaled_dot_product_attention), model(sdpa)
        same = (ours.argmax(-1) == theirs.argmax(-1)).float().mean().item()
        times = [host_us(lambda: model(attend), 20) for attend in (kernel.scaled_dot_product_attention, sdpa)]
    row("a small transformer", same > 0.995, f"{2 * length / times[0] * 1e6:.0f} tokens/s, with SDPA {2 * length / times[1] * 1e6:.0f}; "
        f"{same:.2%} of the most likely tokens are the same")


torch.manual_seed(26)
print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {name}: {kernel.backend}")
assert has_kernel(*tensors()), "no kernel of the export fits [2, 8, 512, 64]: nothing would be checked"
checks = [check_overhead, check_views, check_graph, check_streams, check_devices]
if kernel.backend == "compiled":
    checks += [check_compile, check_opcheck, check_shapes, check_model]
for check in checks:
    try:
        check()
    except Exception as error:
        row(check.__name__, False, f"{type(error).__name__}: {str(error)[:300]}")
print(f"{len(failures)} wrong" if failures else "all right")
sys.exit(1 if failures else 0)
