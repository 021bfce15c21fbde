"""An export of attention_fwd as a function of JAX, on a GPU: jax_function.py FOLDER, whose name is the kernel's. Prints a table;
exits with 1 if something is wrong."""
import importlib
import os
import random
import sys

import jax
import jax.numpy as jnp
import numpy as np

folder = os.path.abspath(sys.argv[1])
name = os.path.basename(folder)
sys.path.insert(0, folder)
kernel = importlib.import_module(f"{name}_jax")
failures = 0


def row(what, passed, words):
    global failures
    failures += not passed
    print(f"{'ok   ' if passed else 'WRONG'} {what:28} {words}", flush=True)


def attention(q, k, v, causal):
    """In double precision; the mask ends at the last key."""
    q, k, v = (np.asarray(array, np.float64) for array in (q, k, v))
    k, v = (np.repeat(array, q.shape[1] // array.shape[1], 1) for array in (k, v))
    scores = q @ k.swapaxes(2, 3) * q.shape[3] ** -0.5
    if causal:
        scores = np.where(np.tri(*scores.shape[2:], k.shape[2] - q.shape[2], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def error_of(a, b):
    return float(np.linalg.norm(np.asarray(a, np.float64) - b) / np.linalg.norm(b))


print(f"{jax.devices()[0].device_kind}, JAX {jax.__version__}, {name}")
random.seed(26)
generator = np.random.default_rng(26)
worst, used, refused = 0, 0, 0
for _ in range(100):
    h_kv, d, causal = random.choice((1, 2, 8)), random.choice((64, 128)), random.randint(0, 1)
    b, h, s = random.randint(1, 4), h_kv * random.choice((1, 2)), random.randint(1, 600)
    s_kv = s if causal else random.randint(1, 600)
    q, k, v = (jnp.asarray(generator.standard_normal(shape), jnp.float16) for shape in ((b, h, s, d), (b, h_kv, s_kv, d), (b, h_kv, s_kv, d)))
    try:
        o = kernel.forward(q, k, v, CAUSAL=causal)[0]
    except ValueError:
        refused += 1
        continue
    used += 1
    worst = max(worst, error_of(o, attention(q, k, v, causal)))
row("random shapes against fp64", used > 0 and worst < 2e-3, f"{used} by a kernel, {refused} refused, largest error {worst:.1e}")
q, k, v = (jnp.asarray(generator.standard_normal((2, 8, 512, 64)), jnp.float16) for _ in range(3))
step = jax.jit(lambda q, k, v: kernel.forward(q * 2, k, v)[0] + 1)
error = error_of(step(q, k, v), attention(q * 2, k, v, 0) + 1)
row("jax.jit", error < 2e-3, f"error {error:.1e}")
mapped = jax.jit(jax.vmap(lambda q, k, v: kernel.forward(q[None], k[None], v[None])[0][0]))(q, k, v)
row("jax.vmap", error_of(mapped, attention(q, k, v, 0)) < 2e-3, "one call for each element")
sys.exit(1 if failures else 0)
