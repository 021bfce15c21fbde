# What attention is compared with: SDPA's backends, FlashAttention-4 and cuDNN's own front end, each of the last two
# where it is installed, by its version; and flex_attention. PyTorch, the GPU and both packages are stand-ins, which say how
# they are called. All elements are 1, so that whatever is seen, so are O's.
mkdir -p torch_only both/flash_attn both/flash_attn_4-4.0.0b36.dist-info both/nvidia_cudnn_frontend-1.32.0.dist-info broken
cat >torch_only/torch.py <<'PYTHON'
import math
import os
import sys
import types
from unittest.mock import MagicMock


class Tensor:
    """A shape, in which order the extents lie in memory, and one value."""
    def __init__(self, *shape, order=None, value=1.0, **options):
        self.shape, self.order, self.value = shape, order or "".join(map(str, range(len(shape)))), value
        self.dtype = options.get("dtype")

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        if key[0] is Ellipsis and key[1]:
            return Tensor(*self.shape[:-1], key[-1].stop)
        if key[0] is Ellipsis or key[-1] is None:
            return self
        extents = [one.stop - one.start for one in key[2:] if isinstance(one, slice)]
        return Tensor(*extents, *self.shape[len(key):], value=self.value)

    def tolist(self):
        row = [self.value] * self.shape[-1]
        return row if len(self.shape) == 1 else [row] * self.shape[0]

    def item(self):
        return self.value

    def __sub__(self, other):
        return Tensor(*self.shape, value=self.value - other.value)

    def __mul__(self, other):
        return Tensor(*self.shape, value=self.value * other.value)

    def to(self, dtype):
        return self

    def view(self, *shape):
        return Tensor(*(extent if extent > 0 else self.shape[0] for extent in shape))

    def unflatten(self, at, extents):
        return Tensor(*self.shape[:at], *extents, *self.shape[at + 1:])

    def transpose(self, a, b):
        shape, order = list(self.shape), list(self.order)
        shape[a], shape[b], order[a], order[b] = shape[b], shape[a], order[b], order[a]
        return Tensor(*shape, order="".join(order), value=self.value)

    def squeeze(self, at):
        assert at == 0 and self.shape[0] == 1 and self.order[0] == "0"
        return Tensor(*self.shape[1:], order="".join(str(int(one) - 1) for one in self.order[1:]), value=self.value)

    def unsqueeze(self, at):
        assert at == 0
        return Tensor(1, *self.shape, value=self.value)

    def contiguous(self):
        return Tensor(*self.shape, value=self.value)

    def stride(self):
        return [self.order]

    def __repr__(self):
        return "x".join(map(str, self.shape)) + ("" if self.order == "".join(sorted(self.order)) else f" in order {self.order}")


def attention(q, k, v, attn_mask=None, **options):
    print("sdpa", q, k, v, attn_mask or "", options, file=sys.stderr)
    return Tensor(*q.shape[:3], v.shape[3])


def flex_attention(q, k, v, **options):
    capped = f"{options.pop('score_mod')(3, 0, 0, 0, 0):.3f}" if "score_mod" in options else ""
    print("flex", q, k, v, capped, options, file=sys.stderr)
    answer = Tensor(*q.shape[:3], v.shape[3])
    lse = Tensor(*q.shape[:3], value=math.log(k.shape[2]) + options["scale"] * q.shape[3])
    return (answer, MagicMock(lse=lse)) if "return_aux" in options else answer


def create_block_mask(is_seen, batches, heads, queries, keys, device):
    return [sum(is_seen(0, 0, query, key) << key for key in range(keys)).bit_count() for query in range(queries)]


class AuxRequest:
    def __init__(self, lse):
        self.lse = lse

    def __repr__(self):
        return f"AuxRequest(lse={self.lse})"


class PackedLse:
    """Of packed sequences under a causal mask; every score is the same."""
    def __init__(self, starts, key_starts, score):
        self.starts, self.key_starts, self.score = starts, key_starts, score

    def unsqueeze(self, at):
        return self

    def __getitem__(self, key):
        at = max(i for i, start in enumerate(self.starts[:-1]) if start <= key[2] < self.starts[i + 1])
        seen = self.key_starts[at + 1] - self.key_starts[at] - (self.starts[at + 1] - 1 - key[2])
        return Tensor(value=self.score + math.log(seen))


def varlen_attn(query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, *, return_aux=None, scale=None, window_size=(-1, -1)):
    assert cu_seq_q[0] == 0 == cu_seq_k[0] and len(cu_seq_q) == len(cu_seq_k)
    print("varlen_attn", query, key, value, cu_seq_q[-1], cu_seq_k[-1], max_q, max_k, return_aux, scale, window_size, file=sys.stderr)
    o = Tensor(*query.shape[:2], value.shape[2])
    return (o, PackedLse(cu_seq_q, cu_seq_k, scale * query.shape[2])) if return_aux else o


def varlen_attn_of_2_10(query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, is_causal=False, return_aux=None):
    print("varlen_attn", query, is_causal, file=sys.stderr)
    return Tensor(*query.shape[:2], value.shape[2])


fake = MagicMock(__version__="2.11")
fake.randn, fake.empty = Tensor, Tensor
fake.tensor, fake.PackedLse = lambda numbers, **options: numbers, PackedLse
varlen = types.SimpleNamespace(varlen_attn=varlen_attn, AuxRequest=AuxRequest)
if os.environ.get("TORCH") == "2.10":
    varlen.varlen_attn = varlen_attn_of_2_10
if os.environ.get("TORCH") != "2.9":
    sys.modules["torch.nn.attention.varlen"] = varlen
fake.empty_like = lambda like, **options: like
fake.cuda.get_device_name.return_value = "a GPU"
fake.cuda.get_device_properties.return_value.L2_cache_size = 1024
fake.cuda.Event.return_value.elapsed_time.return_value = 0.08
fake.cuda.current_stream.return_value.cuda_stream = 7
fake.nn.functional.scaled_dot_product_attention = attention
fake.sigmoid = lambda one: Tensor(*one.shape, value=1 / (1 + math.exp(-one.value)))
fake.logaddexp = lambda one, other: Tensor(*one.shape, value=math.log(math.exp(one.value) + math.exp(other.value)))
fake.tanh, fake.compile = math.tanh, lambda function, **options: function
fake.nn.attention.flex_attention.flex_attention = flex_attention
fake.nn.attention.flex_attention.create_block_mask = create_block_mask
fake.nn.attention.bias.causal_lower_right = lambda rows, columns: f"lower right {rows} {columns}"
sys.modules.update({"torch": fake, "torch.nn": fake.nn, "torch.nn.attention": fake.nn.attention,
                    "torch.nn.attention.flex_attention": fake.nn.attention.flex_attention,
                    "torch.nn.attention.bias": fake.nn.attention.bias, "torch.nn.functional": fake.nn.functional})
PYTHON
touch both/flash_attn/__init__.py
cat >both/flash_attn/cute.py <<'PYTHON'
import math
import sys

import torch


def flash_attn_func(q, k, v, **options):
    if q.shape[-1] == 24:
        raise AssertionError("head_dim must be\ndivisible by 32")
    print("fa4", q, k, v, options, file=sys.stderr)
    keys, score = k.shape[1], options["softmax_scale"] * q.shape[3]
    weight = math.exp(options["learnable_sink"].value - score) if "learnable_sink" in options else 0
    value = 1.03 if options["softmax_scale"] == 7 else keys / (keys + weight)
    lse = type(q)(q.shape[0], q.shape[2], q.shape[1], value=score + math.log(keys + weight))
    return type(q)(*q.shape[:3], v.shape[3], value=value), lse if options["return_lse"] else None


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, **options):
    print("fa4 varlen", q, k, v, cu_seqlens_q[-1], cu_seqlens_k[-1], options, file=sys.stderr)
    lse = torch.PackedLse(cu_seqlens_q, cu_seqlens_k, options["softmax_scale"] * q.shape[2])
    return type(q)(*q.shape[:2], v.shape[2]), lse if options["return_lse"] else None
PYTHON
cat >both/cudnn.py <<'PYTHON'
import math
import sys
from unittest.mock import MagicMock

diagonal_alignment = MagicMock(BOTTOM_RIGHT="bottom right")
data_type = MagicMock(HALF="half", BFLOAT16="bfloat16", FLOAT="float")
heur_mode = MagicMock(A="A", FALLBACK="fallback")


class Unsupported(Exception):
    pass


def create_handle():
    print("cudnn handle", file=sys.stderr)
    return "handle"


def set_stream(handle, stream):
    assert (handle, stream) == ("handle", 7)


class Described:
    def __init__(self, of):
        self.of = of

    def __getattr__(self, name):
        return lambda value: print("cudnn", self.of, name, value, file=sys.stderr) or self

    def __repr__(self):
        return self.of


class pygraph:
    def __init__(self, **options):
        print("cudnn graph", options, file=sys.stderr)

    def tensor_like(self, tensor):
        return Described(f"input {tensor}")

    def sdpa(self, q, k, v, **options):
        if "24" in q.of:
            raise Unsupported("No valid engine configs")
        print("cudnn sdpa", options, file=sys.stderr)
        self.answers = {"output": 64 / 65 if "sink_token" in options else 1, "stats": 32 + math.log(64)}
        return Described("output"), Described("stats")

    def build(self, modes):
        assert modes == ["A", "fallback"]

    def get_workspace_size(self):
        return 0

    def execute(self, bound, workspace, handle):
        for described, tensor in bound.items():
            tensor.value = self.answers.get(described.of, 1)
        print("cudnn call", [f"{described.of}: {tensor}" for described, tensor in bound.items()], file=sys.stderr)
PYTHON
printf 'Metadata-Version: 2.1\nName: flash-attn-4\nVersion: 4.0.0b36\n' >both/flash_attn_4-4.0.0b36.dist-info/METADATA
printf 'Metadata-Version: 2.1\nName: nvidia-cudnn-frontend\nVersion: 1.32.0\n' \
    >both/nvidia_cudnn_frontend-1.32.0.dist-info/METADATA
cp -r both/* broken
echo 'raise OSError("libcudnn.so.9: cannot open shared object file")' >broken/cudnn.py
export PYTHONDONTWRITEBYTECODE=1
ask() { # SITE CASE IMPLEMENTATION...: what the baseline answers; how the stand-ins were called is in `calls`
    jq -nc --argjson case "$2" --args '
        {ask: "begin", protocol: 1, device: "cuda:0", device_name: "a GPU"},
        ($ARGS.positional[] as $one | {ask: "capture", case: $case, implementation: $one, launches: 1, sets: 1},
         {ask: "warm", warmup_us: 100, samples: 1})' "${@:3}" |
        (cd "$ROOT/templates/attention_fwd" && PYTHONPATH="$OLDPWD/$1:$OLDPWD/torch_only" python3 "$ROOT/templates/lib/torch_baseline.py" baseline.py) 2>calls |
        sed 's/for [^ ]*"/for PYTHON"/; s/ (query [^)]*)//'
}
called() { sort -u calls; }
case_of() { # EXTRA: a case with every dimension
    jq -nc "{B: 2, H: 4, H_KV: 4, S: 64, S_KV: 64, D: 32, CAUSAL: 0, BF16: 0, BSHD: 0, LSE: 0, SCALE: 0, GAP: 0} + $1"
}

echo "all of them"
ask both "$(case_of '{CAUSAL: 1, SCALE: 0.5}')" flash fa4 fa4_split cudnn_frontend
called
echo "few queries, grouped heads, [B, S, H, D], bf16, a log-sum-exp"
ask both "$(case_of '{S: 1, H_KV: 2, CAUSAL: 1, BSHD: 1, BF16: 1, LSE: 1, SCALE: 1}')" flash fa4 fa4_split cudnn_frontend
called
echo "SDPA's mask is that of the last query"
ask both "$(case_of '{S: 8, CAUSAL: 1, SCALE: 1}')" cudnn | tail -1
called
echo "slices stay slices"
ask both "$(case_of '{GAP: 8, SCALE: 1}')" fa4 | tail -1
called
echo "windows, caps and sinks; what is no attention does not count"
window='{S: 4, S_KV: 6, WINDOW: 3, SCALE: 1}'
ask both "$(case_of "$window + {CAUSAL: 1}")" flex fa4 cudnn_frontend | grep -c captured
called | grep -E '^(flex|fa4|cudnn sdpa)'
ask both "$(case_of "$window + {SOFT_CAP: 2}")" flex fa4 cudnn_frontend efficient | grep unable
called | grep -E '^(flex|fa4)'
for lse in 0 1; do
    ask both "$(case_of "{SINKS: 1, SCALE: 0.03125, LSE: $lse}")" flex fa4 cudnn_frontend efficient | grep -E 'captured"|unable'
done
called | grep -E '^(flex|fa4|cudnn sdpa|cudnn call)' | sed 's/<[^>]*>/AUX/'
ask both "$(case_of '{SCALE: 7}')" fa4 flex | grep unable
echo "what they cannot compute, and what the baseline does not know"
ask both "$(case_of '{D: 24}')" fa4 cudnn_frontend | sed 1d
ask both "$(case_of '{DROPOUT: 0}')" flash fa4 | sed -n 2p
echo "not installed, and broken"
ask torch_only "$(case_of '{SCALE: 1}')" math fa4 cudnn_frontend
ask broken "$(case_of '{SCALE: 1}')" fa4 cudnn_frontend
echo "variable lengths, packed: 5 sequences of 64 queries at most have 192 together"
packed='{B: 5, VARLEN: 1, BSHD: 1, S_KV: 80, H_KV: 2, CAUSAL: 1, SCALE: 0.5'
ask both "$(case_of "$packed, LSE: 1}")" varlen_attn fa4_varlen
called
ask both "$(case_of "$packed}")" flash fa4 cudnn_frontend | sed 1d
ask both "$(case_of '{SCALE: 1}')" varlen_attn fa4_varlen | sed 1d
ask both "$(case_of "$packed, WINDOW: 9, SOFT_CAP: 3}")" varlen_attn fa4_varlen | sed -n 2p
called
TORCH=2.10 ask both "$(case_of "$packed}")" varlen_attn | sed -n 2p
TORCH=2.10 ask both "$(case_of '{B: 4, VARLEN: 1, CAUSAL: 1}')" varlen_attn | sed -n 2p
called
TORCH=2.9 ask torch_only "$(case_of "$packed}")" varlen_attn fa4_varlen | sed 1d
echo "lengths as setup.cu draws them: in pairs that add up to S, no more keys than there are, and unequal"
(cd "$ROOT/templates/attention_fwd" && PYTHONPATH="$OLDPWD/torch_only:$ROOT/templates/lib" python3 -c '
import runpy
baseline = runpy.run_path("baseline.py")
lengths = baseline["lengths"]
case = {"B": 3, "H": 2, "S": 9, "S_KV": 12, "D": 64, "VARLEN": 1}
given = {"cu_seqlens_q": [0, 4, 4, 13], "cu_seqlens_k": [0, 12, 13, 20]}
_, q, k, v, _, starts = baseline["inputs"](case, given)
assert [one.shape[2] for one in (q, k, v)] == [13, 20, 20] and list(map(list, starts)) == list(given.values())
seen = set()
for B in range(1, 9):
    for S, S_KV, q, k in ((64, 64, 0, 0), (64, 90, 0, 0), (64, 20, 0, 0), (1, 1, 0, 0), (9, 12, 5, 50), (9, 12, 8, 2)):
        for _ in range(30):
            pairs = lengths({"B": B, "S": S, "S_KV": S_KV, "TOTAL_Q": q, "TOTAL_K": k})
            queries, keys = zip(*pairs)
            seen.update(queries if S == 64 else ())
            whole = (B + 1) // 2
            assert len(pairs) == B and sum(queries) == min(q or whole * S, B * S)
            assert sum(keys) == min(k or whole * S_KV, B * S_KV)
            assert min(queries + keys) >= 0 and max(queries) <= S and max(keys) <= S_KV
            assert S_KV < S or k or all(few <= many for few, many in pairs)
print(sorted(seen) == list(range(65)))
')
