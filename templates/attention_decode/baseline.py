"""What a user would run instead of attention_decode; torch_baseline.py times it.

sdpa_gathered            PyTorch's scaled_dot_product_attention of a contiguous cache, into which the pages are
                         gathered before the call: the gathering is not timed. The heads that share keys are queries
                         of one head. It reads S_KV keys of every sequence; a mask hides those behind its length.
cudnn                    the same by SDPA's cuDNN backend, with grouped heads
cudnn_frontend           the best plan of cuDNN's own front end, with pages and lengths
fa4                      flash_attn_varlen_func of FlashAttention-4 (flash_attn.cute), with pages and lengths
flash2, flash3           flash_attn_with_kvcache of flash-attn 2 (flash_attn) and 3 (flash_attn_interface)
flashinfer,              BatchDecodeWithPagedKVCacheWrapper of FlashInfer without and with tensor cores, planned
flashinfer_tensor_cores  before the call: planning is not timed

Lengths and page tables are those of the kernel that it is compared with, or drawn as setup.cu draws them. A call returns O as a view [B, H_KV, H / H_KV, S, D], with LSE
a pair of it and [B, H, S]. `check` compares a few queries that see keys with the definition.
"""
import importlib
import math
import random
import sys

import torch
import torch.nn.attention
import torch.nn.functional as functional
from attention_definition import attend, wrong
from cudnn_graph import CudnnGraph

NAME = "attention over a cache"
PACKAGES = ["flash-attn-4", "nvidia-cudnn-frontend", "nvidia-cudnn-cu13", "flash-attn", "flash-attn-3", "flashinfer-python"]
WORKSPACE_BYTES = 128 << 20  # that FlashInfer recommends


def draw_lengths(case):
    """One of each of B equal ranges from 0 to S_KV, in random order; often the least or the most of its range."""
    count, most_keys = case["B"], case["S_KV"]
    if not case["RAGGED"]:
        return [most_keys] * count
    fewest = case["S"] if case["LSE"] else 0
    lengths = []
    for i in random.sample(range(count), count):
        least, most = i * most_keys // count, (i + 1) * most_keys // count
        within = random.randint(least, most)
        lengths.append(max(random.choice((least, most, within, within)), fewest))
    return lengths


class Cache:
    """A set of inputs. Q is [B, S, H, D], and K and V are [pages, rows of a page, H_KV, D], whatever is contiguous;
    without pages a sequence is one."""

    def __init__(self, case, given=None):
        if case["FP8"]:
            raise NotImplementedError("none of them takes Q of 16 bits and a cache of fp8 with a scale for each head")
        self.case, self.calls = case, {}
        self.dtype = torch.bfloat16 if case["BF16"] else torch.float16
        self.scale = case["SCALE"] or None  # None: 1 / sqrt(D)
        given = given or {}
        self.lengths = given.get("lengths") or draw_lengths(case)
        self.paged, rows = case["PAGE"] > 0, case["PAGE"] or case["S_KV"]
        pages = -(-case["S_KV"] // rows)
        table = given.get("page_table") or random.sample(range(case["B"] * pages), case["B"] * pages)
        self.sequence_pages = [table[b * pages : b * pages + -(-length // rows)]
                               for b, length in enumerate(self.lengths)]
        self.page_table = integers([own + [0] * (pages - len(own)) for own in self.sequence_pages])
        self.q = self.tensor(case["B"], case["S"], case["H"])
        self.k, self.v = (self.tensor(case["B"] * pages, rows, case["H_KV"]) for _ in range(2))

    def tensor(self, count, rows, heads):
        extents = (rows, heads) if self.case["BSHD"] else (heads, rows)
        made = torch.randn(count, *extents, self.case["D"], device="cuda", dtype=self.dtype)
        return made if self.case["BSHD"] else made.transpose(1, 2)

    def rows(self, pool, sequence, head, count):
        """The first rows of a sequence's keys or values, as numbers."""
        if not self.paged:
            return pool[sequence, :count, head].tolist()
        page_rows, found = self.case["PAGE"], []
        for page in self.sequence_pages[sequence][: -(-count // page_rows)]:
            found += pool[page, : min(page_rows, count - len(found)), head].tolist()
        return found

    def grouped(self, o):
        """[B, H, ...] as [B, H_KV, H / H_KV, ...]."""
        return o.unflatten(1, (self.case["H_KV"], self.case["H"] // self.case["H_KV"]))

    def gathered(self, pool):
        """[B, H_KV, S_KV, D], contiguous."""
        dense = pool[self.page_table].flatten(1, 2) if self.paged else pool
        return dense[:, : self.case["S_KV"]].transpose(1, 2).contiguous()


def integers(values):
    return torch.tensor(values, device="cuda", dtype=torch.int32)


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError as reason:
        raise NotImplementedError(f"{name} cannot be imported for {sys.executable} ({reason})") from None


def visible_keys(case, lengths):
    """A mask [B, 1, S, S_KV], or None where every query sees S_KV keys."""
    queries, keys = case["S"], case["S_KV"]
    causal = case["CAUSAL"] and queries > 1
    if not case["RAGGED"] and not causal:
        return None
    ends = [[length - (queries - 1 - i if causal else 0) for i in range(queries)] for length in lengths]
    return torch.lt(torch.arange(keys, device="cuda"), integers(ends)[:, None, :, None])


def sdpa_gathered(cache):
    case = cache.case
    if case["LSE"]:
        raise NotImplementedError("scaled_dot_product_attention gives no log-sum-exp")
    group = case["H"] // case["H_KV"]
    q = cache.q.transpose(1, 2).reshape(case["B"], case["H_KV"], group * case["S"], case["D"]).contiguous()
    k, v, mask = cache.gathered(cache.k), cache.gathered(cache.v), visible_keys(case, cache.lengths)
    if mask is not None:
        mask = mask.repeat(1, 1, group, 1)
    return lambda: functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, scale=cache.scale).unflatten(2, (group, case["S"]))


def cudnn(cache):
    case = cache.case
    if case["LSE"]:
        raise NotImplementedError("scaled_dot_product_attention gives no log-sum-exp")
    q, mask = cache.q.transpose(1, 2), visible_keys(case, cache.lengths)
    k, v = cache.gathered(cache.k), cache.gathered(cache.v)

    def call():
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            return cache.grouped(functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=cache.scale,
                                                                         enable_gqa=case["H"] != case["H_KV"]))

    return call


def cudnn_frontend(cache):
    """Every set of inputs has a graph, an output and a workspace of its own."""
    module = package("cudnn")
    return CudnnGraph(module, cache.case["BF16"], lambda graph: describe_attention(module, graph, cache))


def describe_attention(module, graph, cache):
    case, bound, options = cache.case, {}, {"attn_scale": cache.scale or 1 / math.sqrt(cache.case["D"])}

    def described(tensor):
        name = graph.tensor_like(tensor)
        bound[name] = tensor
        return name

    if cache.paged or case["RAGGED"]:
        options.update(use_padding_mask=True, seq_len_kv=described(integers(cache.lengths).view(-1, 1, 1, 1)),
                       seq_len_q=described(integers([case["S"]] * case["B"]).view(-1, 1, 1, 1)))
    if cache.paged:
        table = described(cache.page_table[:, None, :, None])
        options.update(paged_attention_k_table=table, paged_attention_v_table=table,
                       paged_attention_max_seq_len_kv=case["S_KV"])
    if case["CAUSAL"] and case["S"] > 1:
        options["use_causal_mask_bottom_right"] = True
    q, k, v = (one.transpose(1, 2) for one in (cache.q, cache.k, cache.v))
    output, stats = graph.sdpa(name="attention", q=described(q), k=described(k), v=described(v),
                               generate_stats=bool(case["LSE"]), **options)
    o = torch.empty_like(cache.q).transpose(1, 2)
    output.set_output(True).set_dim(list(o.shape)).set_stride(list(o.stride()))
    bound[output], result = o, cache.grouped(o)
    if case["LSE"]:
        bound[stats] = torch.empty(*q.shape[:3], 1, device="cuda", dtype=torch.float32)
        stats.set_output(True).set_data_type(module.data_type.FLOAT)
        result = result, bound[stats]
    return bound, result


def fa4(cache):
    case, function = cache.case, package("flash_attn.cute").flash_attn_varlen_func
    options = {"seqused_k": integers(cache.lengths)} if cache.paged or case["RAGGED"] else {}
    if cache.paged:
        options["page_table"] = cache.page_table
    return by_rows(cache, lambda: function(
        cache.q, cache.k, cache.v, softmax_scale=cache.scale, max_seqlen_k=case["S_KV"], causal=bool(case["CAUSAL"]),
        return_lse=bool(case["LSE"]), **options))


def by_rows(cache, function):
    """The call of a function that returns O as [B, S, H, D], and perhaps the log-sum-exp with it."""

    def call():
        answer = function()
        o, lse = answer if isinstance(answer, tuple) else (answer, None)
        o = cache.grouped(o.transpose(1, 2))
        return (o, lse) if cache.case["LSE"] else o

    return call


def flash(cache, module, page_table):
    function, options = package(module).flash_attn_with_kvcache, {"cache_seqlens": integers(cache.lengths)}
    if cache.paged:
        options[page_table] = cache.page_table
    return by_rows(cache, lambda: function(
        cache.q, cache.k, cache.v, softmax_scale=cache.scale, causal=bool(cache.case["CAUSAL"]),
        return_softmax_lse=bool(cache.case["LSE"]), **options))


def flash2(cache):
    return flash(cache, "flash_attn", "block_table")


def flash3(cache):
    return flash(cache, "flash_attn_interface", "page_table")


def planned(cache, tensor_cores):
    case = cache.case
    if not cache.paged or case["S"] > 1:
        raise NotImplementedError("BatchDecodeWithPagedKVCacheWrapper takes one query of a sequence, and pages")
    workspace = torch.zeros(WORKSPACE_BYTES, device="cuda", dtype=torch.uint8)
    wrapper = package("flashinfer").BatchDecodeWithPagedKVCacheWrapper(
        workspace, "NHD" if case["BSHD"] else "HND", use_tensor_cores=tensor_cores)
    firsts = [0]
    for own in cache.sequence_pages:
        firsts.append(firsts[-1] + len(own))
    last_rows = [length - (len(own) - 1) * case["PAGE"] if own else 0
                 for own, length in zip(cache.sequence_pages, cache.lengths)]
    pages = [page for own in cache.sequence_pages for page in own]
    wrapper.plan(integers(firsts), integers(pages), integers(last_rows), case["H"], case["H_KV"], case["D"],
                 case["PAGE"], sm_scale=cache.scale, q_data_type=cache.dtype, kv_data_type=cache.dtype)
    pools = (cache.k, cache.v) if case["BSHD"] else (cache.k.transpose(1, 2), cache.v.transpose(1, 2))


    def call():
        answer = wrapper.run(cache.q[:, 0], pools, return_lse=bool(case["LSE"]))
        o, lse = answer if case["LSE"] else (answer, None)
        o = cache.grouped(o).unsqueeze(3)
        return (o, lse.unsqueeze(2), math.log(2)) if case["LSE"] else o  # its log-sum-exp is to the base of 2

    return call


def flashinfer(cache):
    return planned(cache, tensor_cores=False)


def flashinfer_tensor_cores(cache):
    return planned(cache, tensor_cores=True)


def prepared(prepare):
    """The call that `prepare` returns for a set of inputs, which it prepares when it is first called."""

    def call(cache):
        if prepare in cache.calls:
            return cache.calls[prepare]()
        try:
            cache.calls[prepare] = prepare(cache)
            return cache.calls[prepare]()
        except NotImplementedError:
            raise
        except Exception as reason:  # packages refuse a case, or fail to compile for it, with errors of any type
            raise NotImplementedError((f"{reason}".strip() or type(reason).__name__).splitlines()[0][:200]) from None

    return call


def inputs(case, given=None):
    return (Cache(case, given),)


def check(result, cache):
    """Of the shortest, the longest and another sequence; what is given for a query without keys is not compared."""
    case, group = cache.case, cache.case["H"] // cache.case["H_KV"]
    o, lse, unit = (*result, 1)[:3] if isinstance(result, tuple) else (result, None, 1)
    extents = case["B"], case["H_KV"], group, case["S"], case["D"]
    if o.shape != extents:
        return f"O has the shape {tuple(o.shape)}, not {extents}"
    if case["LSE"] and lse is None:
        return "the log-sum-exp is missing"
    by_length = sorted(range(case["B"]), key=cache.lengths.__getitem__)
    for sequence in {by_length[0], by_length[-1], random.choice(by_length)}:
        head, query = random.randrange(case["H"]), random.randrange(case["S"])
        count = cache.lengths[sequence] - (case["S"] - 1 - query if case["CAUSAL"] else 0)
        if count <= 0:
            continue
        keys, values = (cache.rows(pool, sequence, head // group, count) for pool in (cache.k, cache.v))
        wanted, wanted_lse = attend(cache.q[sequence, query, head].tolist(), keys, values,
                                    cache.scale or 1 / math.sqrt(case["D"]))
        why = wrong(o[sequence, head // group, head % group, query].tolist(),
                    None if lse is None else unit * lse[sequence, head, query].item(), wanted, wanted_lse,
                    "bf16" if case["BF16"] else "f16")
        if why is not None:
            return f"{why} (query {query} of head {head} of sequence {sequence})"
    return None


IMPLEMENTATIONS = {call.__name__: prepared(call)
                   for call in (sdpa_gathered, cudnn, cudnn_frontend, fa4, flash2, flash3, flashinfer,
                                flashinfer_tensor_cores)}
