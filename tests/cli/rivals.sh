# What attention is compared with: SDPA's backends, FlashAttention-4 and cuDNN's own front end, each of the last two
# where it is installed, by its version. PyTorch, the GPU and both packages are stand-ins, which say how they are called.
mkdir -p torch_only both/flash_attn both/flash_attn_4-4.0.0b36.dist-info both/nvidia_cudnn_frontend-1.32.0.dist-info broken
cat >torch_only/torch.py <<'PYTHON'
import sys
from unittest.mock import MagicMock


class Tensor:
    """A shape, and in which order the extents lie in memory."""
    def __init__(self, *shape, order=None, **options):
        self.shape, self.order = shape, order or "".join(map(str, range(len(shape))))

    def __getitem__(self, key):
        return Tensor(*self.shape[:-1], key[-1].stop)

    def unflatten(self, at, extents):
        return Tensor(*self.shape[:at], *extents, *self.shape[at + 1:])

    def transpose(self, a, b):
        shape, order = list(self.shape), list(self.order)
        shape[a], shape[b], order[a], order[b] = shape[b], shape[a], order[b], order[a]
        return Tensor(*shape, order="".join(order))

    def contiguous(self):
        return Tensor(*self.shape)

    def stride(self):
        return [self.order]

    def __repr__(self):
        return "x".join(map(str, self.shape)) + ("" if self.order == "0123" else f" in order {self.order}")


def attention(q, k, v, attn_mask=None, **options):
    print("sdpa", q, k, v, attn_mask or "", options, file=sys.stderr)


fake = MagicMock(__version__="2.11")
fake.randn, fake.empty = Tensor, Tensor
fake.empty_like = lambda like, **options: like
fake.cuda.get_device_name.return_value = "a GPU"
fake.cuda.get_device_properties.return_value.L2_cache_size = 1024
fake.cuda.Event.return_value.elapsed_time.return_value = 0.08
fake.cuda.current_stream.return_value.cuda_stream = 7
fake.nn.functional.scaled_dot_product_attention = attention
fake.nn.attention.bias.causal_lower_right = lambda rows, columns: f"lower right {rows} {columns}"
sys.modules.update({"torch": fake, "torch.nn": fake.nn, "torch.nn.attention": fake.nn.attention,
                    "torch.nn.attention.bias": fake.nn.attention.bias, "torch.nn.functional": fake.nn.functional})
PYTHON
touch both/flash_attn/__init__.py
cat >both/flash_attn/cute.py <<'PYTHON'
import sys


def flash_attn_func(q, k, v, **options):
    if q.shape[-1] == 24:
        raise AssertionError("head_dim must be\ndivisible by 32")
    print("fa4", q, k, v, options, file=sys.stderr)
PYTHON
cat >both/cudnn.py <<'PYTHON'
import sys
from unittest.mock import MagicMock

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


class pygraph:
    def __init__(self, **options):
        print("cudnn graph", options, file=sys.stderr)

    def tensor_like(self, tensor):
        return Described(f"input {tensor}")

    def sdpa(self, q, k, v, **options):
        if "24" in q.of:
            raise Unsupported("No valid engine configs")
        print("cudnn sdpa", options, file=sys.stderr)
        return Described("output"), Described("stats")

    def build(self, modes):
        assert modes == ["A", "fallback"]

    def get_workspace_size(self):
        return 0

    def execute(self, bound, workspace, handle):
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
        sed 's/for [^ ]*"/for PYTHON"/'
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
echo "what they cannot compute, and what the baseline does not know"
ask both "$(case_of '{D: 24}')" fa4 cudnn_frontend | sed 1d
ask both "$(case_of '{DROPOUT: 0}')" flash fa4 | sed -n 2p
echo "not installed, and broken"
ask torch_only "$(case_of '{SCALE: 1}')" math fa4 cudnn_frontend
ask broken "$(case_of '{SCALE: 1}')" fa4 cudnn_frontend
