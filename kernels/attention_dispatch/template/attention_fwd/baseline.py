"""What a user would call for attention: each backend of PyTorch's scaled_dot_product_attention, FlashAttention-4,
cuDNN's own front end, and, where there is a sliding window, a soft cap or attention sinks, PyTorch's flex_attention,
compiled. torch_baseline.py times them. FlashAttention-4 and the front end are optional packages, `flash-attn-4` and
`nvidia-cudnn-frontend`; one that is not installed is reported as unable, with the reason. For SDPA a sliding window is
an explicit mask, which `efficient` and `math` take. Variable lengths are for PyTorch's `varlen_attn` and
FlashAttention-4's `flash_attn_varlen_func`, which take packed tensors as the template does.

A call returns O as a view [B, H, S, DV], with LSE a pair of it and [B, H, S]; of variable lengths [1, H, TOTAL_Q, DV]
and [1, H, TOTAL_Q]. `check` compares a few queries of it with the definition.
"""
import functools
import importlib
import importlib.metadata
import inspect
import json
import math
import random
import sys

import torch
import torch.nn.attention
import torch.nn.functional as functional
from attention_definition import attend, wrong
from cudnn_graph import CudnnGraph, one_line
from torch.nn.attention.bias import causal_lower_right

NAME = "scaled_dot_product_attention"
PACKAGES = ["flash-attn-4", "nvidia-cudnn-frontend", "nvidia-cudnn-cu13"]
FEW_QUERIES = 16
DIMENSIONS = {"B", "H", "H_KV", "S", "S_KV", "D", "CAUSAL", "BF16", "BSHD", "LSE", "SCALE", "GAP", "DV", "WINDOW",
              "SOFT_CAP", "SINKS", "VARLEN", "TOTAL_Q", "TOTAL_K"}


def tensor(case, heads, rows, columns, gap=0):
    """[B, H, S, D] as SDPA takes it; with BSHD a view of [B, S, H, D], the layout of SDPA's O too. The gap is between
    rows, with BSHD between the rows of all heads."""
    dtype = torch.bfloat16 if case.get("BF16") else torch.float16
    inside, outside = (heads, rows) if case.get("BSHD") else (1, heads * rows)
    batches = 1 if case.get("VARLEN") else case["B"]
    made = torch.randn(batches, outside, inside * columns + gap, device="cuda", dtype=dtype)[..., : inside * columns]
    if case.get("BSHD"):
        return made.unflatten(2, (heads, columns)).transpose(1, 2)
    return made.unflatten(1, (heads, rows))


def inputs(case, given=None):
    unknown = set(case) - DIMENSIONS
    if unknown:
        raise NotImplementedError(f"the baseline does not know the dimension {min(unknown)}")
    heads, rows, gap = case.get("H_KV", case["H"]), case.get("S_KV", case["S"]), case.get("GAP", 0)
    queries, starts = case["S"], None
    if case.get("VARLEN"):
        starts = (given["cu_seqlens_q"], given["cu_seqlens_k"]) if given else cumulative_lengths(case)
        queries, rows = starts[0][-1], starts[1][-1]
    sinks = torch.randn(case["H"], device="cuda", dtype=torch.float32) if case.get("SINKS") else None
    return (case, tensor(case, case["H"], queries, case["D"], gap), tensor(case, heads, rows, case["D"], gap),
            tensor(case, heads, rows, case.get("DV", case["D"])), sinks, starts)


def seen_keys(case, query, queries, keys):
    last = query + keys - queries
    first = max(0, last - case["WINDOW"] + 1) if case.get("WINDOW") else 0
    return first, max(first, min(keys, last + 1) if case.get("CAUSAL") else keys)


def sampled_queries(case, sequences, heads, queries):
    """Those that see the fewest and the most keys under any mask, and another one: sequence, head and query."""
    last = queries[sequences - 1] - 1
    chosen = {(0, 0, 0), (sequences - 1, heads - 1, last), (0, heads - 1, min(case.get("WINDOW", 0), queries[0] - 1))}
    sequence = random.randrange(sequences)
    chosen.add((sequence, random.randrange(heads), random.randrange(max(queries[sequence], 1))))
    return [one for one in chosen if 0 <= one[2] < queries[one[0]]]


def check(result, case, q, k, v, sinks, starts):
    o, lse = result if isinstance(result, tuple) else (result, None)
    heads = case["H"]
    extents = q.shape[0], heads, q.shape[2], case.get("DV", case["D"])
    if o.shape != extents:
        return f"O has the shape {tuple(o.shape)}, not {extents}"
    if case.get("LSE") and lse is None:
        return "the log-sum-exp is missing"
    queries, keys = ([end - start for start, end in zip(one, one[1:])] for one in starts or
                     ([case["S"] * i for i in range(case["B"] + 1)], [k.shape[2] * i for i in range(case["B"] + 1)]))
    for sequence, head, query in sampled_queries(case, case["B"], heads, queries):
        batch, row, first_key = (0, starts[0][sequence] + query, starts[1][sequence]) if starts else (sequence, query, 0)
        kv_head, (first, end) = head * k.shape[1] // heads, seen_keys(case, query, queries[sequence], keys[sequence])
        if first == end and sinks is None:
            continue  # what is given for a query without keys differs between rivals
        seen = slice(first_key + first, first_key + end)
        wanted, wanted_lse = attend(q[batch, head, row].tolist(), k[batch, kv_head, seen].tolist(),
                                    v[batch, kv_head, seen].tolist(), scale_of(case), case.get("SOFT_CAP", 0),
                                    None if sinks is None else sinks[head].item())
        why = wrong(o[batch, head, row].tolist(), None if lse is None else lse[batch, head, row].item(), wanted,
                    wanted_lse, "bf16" if case.get("BF16") else "f16")
        if why is not None:
            return f"{why} (query {query} of head {head} of {'sequence' if starts else 'batch'} {sequence})"
    return None


def window_mask(case):
    """True where query i sees key j; None without a window."""
    queries, keys = case["S"], case.get("S_KV", case["S"])
    if not case.get("WINDOW"):
        return None
    distance = torch.arange(queries, device="cuda")[:, None] + keys - queries - torch.arange(keys, device="cuda")
    return (distance < case["WINDOW"]) & (distance >= 0 if case.get("CAUSAL") else True)


def refuse_lengths(case):
    if case.get("VARLEN"):
        raise NotImplementedError("variable lengths are for varlen_attn and fa4_varlen")


def scale_of(case):
    return case.get("SCALE") or 1 / math.sqrt(case["D"])


class Backend:
    """A backend of SDPA."""

    def __init__(self, name):
        self.name = name

    def prepare(self, case, q, k, v, sinks, starts):
        refuse_lengths(case)
        if case.get("LSE"):
            raise NotImplementedError("scaled_dot_product_attention gives no log-sum-exp")
        if case.get("SOFT_CAP") or sinks is not None:
            raise NotImplementedError("scaled_dot_product_attention has neither a soft cap of logits nor sinks")
        return case, q, k, v, window_mask(case)

    def __call__(self, case, q, k, v, mask):
        backend = getattr(torch.nn.attention.SDPBackend, self.name, None)
        if backend is None:
            raise NotImplementedError(f"PyTorch {torch.__version__} has no such backend")
        options = {"enable_gqa": True} if k.shape[1] != q.shape[1] else {}
        options["scale"] = scale_of(case)
        if mask is not None:
            options["attn_mask"] = mask
        elif case.get("CAUSAL") and q.shape[2] != k.shape[2]:
            # is_causal aligns the mask to the first key, the template to the last
            options["attn_mask"] = causal_lower_right(q.shape[2], k.shape[2])
        else:
            options["is_causal"] = bool(case.get("CAUSAL"))
        with torch.nn.attention.sdpa_kernel(backend):
            return functional.scaled_dot_product_attention(q, k, v, **options)


class Flex:
    """flex_attention with a mask of blocks, compiled once for a case. It has no sinks: O is multiplied by what its
    log-sum-exp says that a sink leaves of the softmax."""

    def __init__(self):
        self.compiled, self.options = None, {}

    def prepare(self, case, q, k, v, sinks, starts):
        refuse_lengths(case)
        if not case.get("WINDOW") and not case.get("SOFT_CAP") and sinks is None:
            raise NotImplementedError("flex_attention is timed where there is a sliding window, a soft cap or sinks")
        flex, key = importlib.import_module("torch.nn.attention.flex_attention"), json.dumps(case, sort_keys=True)
        if self.compiled is None:
            torch._dynamo.config.recompile_limit = 64  # of cases; behind it calls would not be compiled
            self.compiled = torch.compile(flex.flex_attention, dynamic=False)
        if key not in self.options:
            self.options[key] = self.make_options(flex, case, sinks is not None)
        return case, q, k, v, sinks, self.options[key]

    @staticmethod
    def make_options(flex, case, has_sinks):
        window, cap, causal = case.get("WINDOW", 0), case.get("SOFT_CAP", 0), bool(case.get("CAUSAL"))
        queries, keys = case["S"], case.get("S_KV", case["S"])

        def is_seen(batch, head, query, key):
            distance = query + keys - queries - key
            seen = distance >= 0 if causal else distance < window
            return seen & (distance < window) if causal and window else seen

        def capped(score, batch, head, query, key):
            return cap * torch.tanh(score / cap)

        options = {"scale": scale_of(case), "enable_gqa": case.get("H_KV", case["H"]) != case["H"]}
        if causal or window:
            options["block_mask"] = flex.create_block_mask(is_seen, None, None, queries, keys, device="cuda")
        if cap:
            options["score_mod"] = capped
        if case.get("LSE") or has_sinks:
            options["return_aux"] = flex.AuxRequest(lse=True)
        return options

    def __call__(self, case, q, k, v, sinks, options):
        answer = self.compiled(q, k, v, **options)
        if "return_aux" not in options:
            return answer
        o, lse = answer[0], answer[1].lse
        if sinks is not None:
            sinks = sinks[:, None]
            o, lse = (o * torch.sigmoid(lse - sinks)[..., None]).to(o.dtype), torch.logaddexp(lse, sinks)
        return (o, lse) if case.get("LSE") else o


class Optional:
    """An implementation that needs a package which may be missing. Whatever it raises for a case, as these packages
    do in types of their own, means that it cannot compute it."""

    packed = False

    def __init__(self, package, module):
        self.package, self.module = package, module

    def load(self):
        try:
            version = importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            raise NotImplementedError(f"{self.package} is not installed for {sys.executable}") from None
        try:
            return importlib.import_module(self.module)
        except Exception as reason:
            raise NotImplementedError(f"{self.package} {version} cannot be imported: {one_line(reason)}") from None

    def prepare(self, case, q, k, v, sinks, starts):
        if not self.packed:
            refuse_lengths(case)
        elif starts is None:
            raise NotImplementedError("it is for variable lengths")
        module = self.load()
        try:
            return self.arguments(module, case, q, k, v, sinks, *([starts] if self.packed else []))
        except NotImplementedError:
            raise
        except Exception as reason:
            raise NotImplementedError(one_line(reason)) from None

    def __call__(self, *arguments):
        try:
            return self.call(*arguments)
        except Exception as reason:
            raise NotImplementedError(one_line(reason)) from None


class FlashAttention4(Optional):
    """In its own layout, [B, S, H, D]; a slice of a larger tensor stays one. Of few queries it may split the keys,
    which num_splits=0 leaves to it."""

    def __init__(self, splits):
        super().__init__("flash-attn-4", "flash_attn.cute")
        self.splits = splits

    def arguments(self, module, case, *tensors):
        if self.splits != 1 and case["S"] > FEW_QUERIES:
            raise NotImplementedError(f"keys are split where there are at most {FEW_QUERIES} queries")
        *tensors, sinks = tensors
        rows = [one.transpose(1, 2) for one in tensors]
        return module.flash_attn_func, case, *(rows if case.get("GAP") else [one.contiguous() for one in rows]), sinks

    def call(self, function, case, q, k, v, sinks):
        options = {"num_splits": self.splits} if self.splits != 1 else {}
        if sinks is not None:
            options["learnable_sink"] = sinks
        if case.get("WINDOW"):
            options["window_size"] = (case["WINDOW"] - 1, 0 if case.get("CAUSAL") else None)
        if case.get("SOFT_CAP"):
            options["softcap"] = float(case["SOFT_CAP"])
        answer = function(q, k, v, softmax_scale=scale_of(case), causal=bool(case.get("CAUSAL")),
                          return_lse=bool(case.get("LSE")), **options)
        if self.packed:
            return unpacked(case, answer)
        o, lse = answer if isinstance(answer, tuple) else (answer, None)
        return (o.transpose(1, 2), lse) if case.get("LSE") else o.transpose(1, 2)


class CudnnFrontEnd(Optional):
    """The best plan of cuDNN's heuristics; every set of inputs has a graph, an output and a workspace of its own."""

    def __init__(self):
        super().__init__("nvidia-cudnn-frontend", "cudnn")

    def arguments(self, cudnn, case, q, k, v, sinks):
        if case.get("SOFT_CAP"):
            raise NotImplementedError("soft caps are not passed on to cuDNN's front end")
        return (CudnnGraph(cudnn, case.get("BF16"),
                                       lambda graph: self.describe(cudnn, graph, case, q, k, v, sinks)),)

    @staticmethod
    def describe(cudnn, graph, case, q, k, v, sinks):
        described = [graph.tensor_like(one) for one in (q, k, v)]
        options = {}
        if case.get("WINDOW"):
            options = {"diagonal_alignment": cudnn.diagonal_alignment.BOTTOM_RIGHT,
                       "diagonal_band_left_bound": case["WINDOW"],
                       **({"diagonal_band_right_bound": 0} if case.get("CAUSAL") else {})}
        elif case.get("CAUSAL"):
            options["use_causal_mask" if q.shape[2] == k.shape[2] else "use_causal_mask_bottom_right"] = True
        if sinks is not None:
            sinks = sinks.view(1, -1, 1, 1)
            options["sink_token"] = graph.tensor_like(sinks)
        output, stats = graph.sdpa(name="attention", q=described[0], k=described[1], v=described[2],
                                   generate_stats=bool(case.get("LSE")), attn_scale=scale_of(case), **options)
        o = tensor(case, case["H"], case["S"], case.get("DV", case["D"]))
        output.set_output(True).set_dim(list(o.shape)).set_stride(list(o.stride()))
        bound, result = dict(zip(described, (q, k, v))) | {output: o}, o
        if sinks is not None:
            bound[options["sink_token"]] = sinks
        if case.get("LSE"):
            bound[stats] = torch.empty(*q.shape[:3], 1, device="cuda", dtype=torch.float32)
            stats.set_output(True).set_data_type(cudnn.data_type.FLOAT)
            result = o, bound[stats]
        return bound, result

    def call(self, graph):
        return graph()


class Totals:
    """How many rows packed sequences have together, as problem.json derives it."""

    def __init__(self, case):
        self.sequences, self.queries, self.keys = case["B"], case["S"], case.get("S_KV", case["S"])
        shares = (self.sequences + 1) // 2
        self.q = min(case.get("TOTAL_Q") or shares * self.queries, self.sequences * self.queries)
        usual = shares * self.keys if self.queries > self.keys else self.q + shares * (self.keys - self.queries)
        self.k = min(case.get("TOTAL_K") or usual, self.sequences * self.keys)
        self.has_context = (self.queries <= self.keys and
                            0 <= self.k - self.q <= self.sequences * (self.keys - self.queries))


def drawn(count, most, total):
    """Numbers that add up to `total`, as setup.cu draws them: pairs, in order."""
    pairs = count // 2
    odd = min(most, total // (pairs + 1)) if count % 2 else 0
    numbers = []
    for pair in range(pairs):
        shared = (pair + 1) * (total - odd) // pairs - pair * (total - odd) // pairs
        lowest = max(shared - most, 0)
        least, end = (lowest + part * (shared // 2 - lowest) // pairs for part in (pair, pair + 1))
        lesser = random.choice([least, min(least + 1, end), *(random.randint(least, end) for _ in range(2))])
        numbers += [lesser, shared - lesser]
    return numbers + [odd] * (count % 2)


def lengths(case):
    """Queries and keys of each sequence."""
    totals = Totals(case)
    queries = drawn(totals.sequences, totals.queries, totals.q)
    if totals.has_context:
        more = drawn(totals.sequences, totals.keys - totals.queries, totals.k - totals.q)
        keys = [own + context for own, context in zip(queries, more)]
    else:
        keys = drawn(totals.sequences, totals.keys, totals.k)
    both = list(zip(queries, keys))
    random.shuffle(both)
    return both


def cumulative_lengths(case):
    """Where each sequence begins, and the last ends, among the queries and among the keys."""
    starts = [0], [0]
    for pair in lengths(case):
        for start, rows in zip(starts, pair):
            start.append(start[-1] + rows)
    return starts


def packed_arguments(case, tensors, starts):
    """[total, H, D] of each tensor, and cu_seqlens of the queries and of the keys."""
    rows = [one.squeeze(0).transpose(0, 1) for one in tensors]
    return (rows if case.get("GAP") else [one.contiguous() for one in rows],
            [torch.tensor(start, device="cuda", dtype=torch.int32) for start in starts])


def unpacked(case, answer):
    """O, and LSE where it is asked for, of [total, H, DV] and [H, total]."""
    o, lse = answer if isinstance(answer, tuple) else (answer, None)
    o = o.transpose(0, 1).unsqueeze(0)
    return (o, lse.unsqueeze(0)) if case.get("LSE") else o


class VarlenAttention(Optional):
    """PyTorch's attention of packed sequences, from 2.10 on, whose options differ from version to version."""

    packed = True

    def __init__(self):
        super().__init__("torch", "torch.nn.attention.varlen")

    def load(self):
        try:
            return importlib.import_module(self.module)
        except ImportError:
            raise NotImplementedError(f"PyTorch {torch.__version__} has no {self.module}") from None

    def arguments(self, module, case, q, k, v, sinks, starts):
        if case.get("SOFT_CAP") or sinks is not None:
            raise NotImplementedError("varlen_attn has neither a soft cap of logits nor attention sinks")
        names = inspect.signature(module.varlen_attn).parameters
        asked = {"window_size": ((case.get("WINDOW") or 0) - 1, 0 if case.get("CAUSAL") else -1)}
        if "window_size" not in names and not case.get("WINDOW"):
            asked = {"is_causal": bool(case.get("CAUSAL"))}
        if "scale" in names or case.get("SCALE"):
            asked["scale"] = scale_of(case)
        for name in asked:
            if name not in names:
                raise NotImplementedError(f"varlen_attn of PyTorch {torch.__version__} takes no {name}")
        if case.get("LSE"):
            asked["return_aux"] = module.AuxRequest(lse=True)
        if case.get("H_KV", case["H"]) != case["H"] and "enable_gqa" in names:
            asked["enable_gqa"] = True
        rows, starts = packed_arguments(case, (q, k, v), starts)
        return module.varlen_attn, case, [*rows, *starts, case["S"], case.get("S_KV", case["S"])], asked

    def call(self, function, case, arguments, options):
        return unpacked(case, function(*arguments, **options))


class FlashAttention4Varlen(FlashAttention4):
    packed = True

    def __init__(self):
        super().__init__(splits=1)

    def arguments(self, module, case, q, k, v, sinks, starts):
        (q, k, v), (queries, keys) = packed_arguments(case, (q, k, v), starts)
        function = functools.partial(module.flash_attn_varlen_func, cu_seqlens_q=queries, cu_seqlens_k=keys,
                                     max_seqlen_q=case["S"], max_seqlen_k=case.get("S_KV", case["S"]))
        return function, case, q, k, v, sinks


IMPLEMENTATIONS = {
    "flash": Backend("FLASH_ATTENTION"), "cudnn": Backend("CUDNN_ATTENTION"),
    "efficient": Backend("EFFICIENT_ATTENTION"), "math": Backend("MATH"),
    "fa4": FlashAttention4(splits=1), "fa4_split": FlashAttention4(splits=0), "cudnn_frontend": CudnnFrontEnd(),
    "flex": Flex(), "varlen_attn": VarlenAttention(), "fa4_varlen": FlashAttention4Varlen(),
}
