"""What a user would run instead of attention_decode; torch_baseline.py times it.

sdpa_gathered            PyTorch's scaled_dot_product_attention of a contiguous cache, into which the pages are
                         gathered before the call: the gathering is not timed. The heads that share keys are queries
                         of one head. It reads S_KV keys of every sequence; a mask hides those behind its length.
flash2, flash3           flash_attn_with_kvcache of flash-attn 2 (flash_attn) and 3 (flash_attn_interface)
flashinfer,              BatchDecodeWithPagedKVCacheWrapper of FlashInfer without and with tensor cores, planned
flashinfer_tensor_cores  before the call: planning is not timed

Lengths and page tables are drawn as setup.cu draws them.
"""
import importlib
import random
import sys

import torch
import torch.nn.functional as functional

NAME = "attention over a cache"
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

    def __init__(self, case):
        if case["FP8"]:
            raise NotImplementedError("none of them takes Q of 16 bits and a cache of fp8 with a scale for each head")
        self.case, self.calls = case, {}
        self.dtype = torch.bfloat16 if case["BF16"] else torch.float16
        self.scale = case["SCALE"] or None  # None: 1 / sqrt(D)
        self.lengths = draw_lengths(case)
        self.paged, rows = case["PAGE"] > 0, case["PAGE"] or case["S_KV"]
        pages = -(-case["S_KV"] // rows)
        order = random.sample(range(case["B"] * pages), case["B"] * pages)
        self.sequence_pages = [order[b * pages : b * pages + -(-length // rows)]
                               for b, length in enumerate(self.lengths)]
        self.page_table = integers([own + [0] * (pages - len(own)) for own in self.sequence_pages])
        self.q = self.tensor(case["B"], case["S"], case["H"])
        self.k, self.v = (self.tensor(case["B"] * pages, rows, case["H_KV"]) for _ in range(2))

    def tensor(self, count, rows, heads):
        extents = (rows, heads) if self.case["BSHD"] else (heads, rows)
        made = torch.randn(count, *extents, self.case["D"], device="cuda", dtype=self.dtype)
        return made if self.case["BSHD"] else made.transpose(1, 2)

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
    return lambda: functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=cache.scale)


def flash(cache, module, page_table):
    attend, options = package(module).flash_attn_with_kvcache, {"cache_seqlens": integers(cache.lengths)}
    if cache.paged:
        options[page_table] = cache.page_table
    return lambda: attend(cache.q, cache.k, cache.v, softmax_scale=cache.scale, causal=bool(cache.case["CAUSAL"]),
                          return_softmax_lse=bool(cache.case["LSE"]), **options)


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
    return lambda: wrapper.run(cache.q[:, 0], pools, return_lse=bool(case["LSE"]))


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


def inputs(case):
    return (Cache(case),)


IMPLEMENTATIONS = {call.__name__: prepared(call)
                   for call in (sdpa_gathered, flash2, flash3, flashinfer, flashinfer_tensor_cores)}
