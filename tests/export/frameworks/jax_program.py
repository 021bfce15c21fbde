"""Runs an export's function of JAX with the real JAX, on the CPU and with a launcher that stands in for the kernel
(attention_stand_in.c): jax_program.py FOLDER NAME."""
import ctypes
import importlib
import os
import random
import sys

import jax
import jax.numpy as jnp
import numpy as np

folder, name = sys.argv[1:]
sys.path.insert(0, folder)
kernel = importlib.import_module(f"{name}_jax")
calls = ctypes.c_int.in_dll(ctypes.CDLL(os.path.join(folder, f"lib{name}.so")), "stand_in_calls")


def attention(q, k, v, causal=False, scale=None):
    """In double precision; the mask ends at the last key."""
    q, k, v = (np.asarray(array, np.float64) for array in (q, k, v))
    k, v = (np.repeat(array, q.shape[1] // array.shape[1], 1) for array in (k, v))
    scores = q @ k.swapaxes(2, 3) * (scale or q.shape[3] ** -0.5)
    if causal:
        scores = np.where(np.tri(*scores.shape[2:], k.shape[2] - q.shape[2], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def close(a, b, dtype):
    assert a.shape == b.shape, (a.shape, b.shape)
    error = np.linalg.norm(np.asarray(a, np.float64) - b) / np.linalg.norm(b)
    assert error < (1e-3 if dtype == jnp.float16 else 8e-3), error


def arrays(generator, b=2, h=4, h_kv=2, s=9, s_kv=12, d=64, dv=None, dtype=jnp.float16):
    shapes = ((b, h, s, d), (b, h_kv, s_kv, d), (b, h_kv, s_kv, dv or d))
    return [jnp.asarray(generator.standard_normal(shape), dtype) for shape in shapes]


def refused(words, *arguments, **numbers):
    before = calls.value
    try:
        kernel.forward(*arguments, **numbers)
    except ValueError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"forward accepts what no kernel fits: {words}")
    assert calls.value == before


generator = np.random.default_rng(26)
q, k, v = arrays(generator)
close(kernel.forward(q, k, v)[0], attention(q, k, v), q.dtype)
o, lse = kernel.forward(q, k, v, CAUSAL=1, LSE=1, SCALE=0.3)
close(o, attention(q, k, v, True, 0.3), q.dtype)
assert lse.shape == (2 * 4 * 9,) and bool(jnp.isfinite(lse).all())
step = jax.jit(lambda q, k, v: kernel.forward(q * 2, k, v, CAUSAL=1)[0].sum(1))
close(step(q, k, v), attention(q * 2, k, v, True).sum(1), jnp.bfloat16)
mapped = jax.vmap(lambda q, k, v: kernel.forward(q[None], k[None], v[None])[0][0])(q, k, v)
close(mapped, attention(q, k, v), q.dtype)
# A transposed array is another in JAX: row-major, with its own extents.
close(kernel.forward(q.swapaxes(1, 2).swapaxes(1, 2), k, v)[0], attention(q, k, v), q.dtype)

refused("q has 3 extents", q[0], k, v)
refused("extent 0 of k is 1, and not 2", q, k[:1], v)
refused("another dtype", q, k.astype(jnp.bfloat16), v)
refused("another dtype", q, k.astype(jnp.float32), v)
refused("no kernel for", q[..., :48], k[..., :48], v[..., :48])
refused("no kernel for", q, k, v, SOFT_CAP=3)
refused("not verified", *arrays(generator, s=201))
kernel.set_fallback(lambda q, k, v, sinks, cu_seqlens_q, cu_seqlens_k, CAUSAL, **numbers: (jnp.zeros_like(q), None))
assert not jax.jit(lambda q, k, v: kernel.forward(q, k, v)[0])(*arrays(generator, s=201)).any()
kernel.set_fallback(None)

random.seed(26)
for _ in range(int(os.environ.get("SHAPES", "100"))):
    dtype, h_kv, d = random.choice((jnp.float16, jnp.bfloat16)), random.randint(1, 3), random.choice((32, 64))
    q, k, v = arrays(generator, random.randint(1, 3), h_kv * random.randint(1, 3), h_kv, random.randint(1, 40), random.randint(40, 60),
                     d, random.choice((32, d)), dtype)
    scale, causal = random.choice((0.0, 0.2)), random.randint(0, 1)
    close(kernel.forward(q, k, v, CAUSAL=causal, SCALE=scale)[0], attention(q, k, v, causal, scale), dtype)
print(f"jax: {calls.value} calls of the kernel")
