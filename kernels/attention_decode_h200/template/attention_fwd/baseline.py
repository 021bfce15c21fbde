"""What a user would call for attention: each backend of PyTorch's scaled_dot_product_attention, FlashAttention-4, and
cuDNN's own front end. torch_baseline.py times them. The last two are optional packages, `flash-attn-4` and
`nvidia-cudnn-frontend`; one that is not installed is reported as unable, with the reason. For PyTorch a sliding window is
an explicit mask, which `efficient` and `math` take.
"""
import importlib
import importlib.metadata
import math
import sys

import torch
import torch.nn.attention
import torch.nn.functional as functional
from torch.nn.attention.bias import causal_lower_right

NAME = "scaled_dot_product_attention"
PACKAGES = ["flash-attn-4", "nvidia-cudnn-frontend"]
FEW_QUERIES = 16
DIMENSIONS = {"B", "H", "H_KV", "S", "S_KV", "D", "CAUSAL", "BF16", "BSHD", "LSE", "SCALE", "GAP", "DV", "WINDOW",
              "SOFT_CAP", "SINKS"}


def tensor(case, heads, rows, columns, gap=0):
    """[B, H, S, D] as SDPA takes it; with BSHD a view of [B, S, H, D], the layout of SDPA's O too. The gap is between
    rows, with BSHD between the rows of all heads."""
    dtype = torch.bfloat16 if case.get("BF16") else torch.float16
    inside, outside = (heads, rows) if case.get("BSHD") else (1, heads * rows)
    made = torch.randn(case["B"], outside, inside * columns + gap, device="cuda", dtype=dtype)[..., : inside * columns]
    if case.get("BSHD"):
        return made.unflatten(2, (heads, columns)).transpose(1, 2)
    return made.unflatten(1, (heads, rows))


def inputs(case):
    unknown = set(case) - DIMENSIONS
    if unknown:
        raise NotImplementedError(f"the baseline does not know the dimension {min(unknown)}")
    heads, rows, gap = case.get("H_KV", case["H"]), case.get("S_KV", case["S"]), case.get("GAP", 0)
    return (case, tensor(case, case["H"], case["S"], case["D"], gap), tensor(case, heads, rows, case["D"], gap),
            tensor(case, heads, rows, case.get("DV", case["D"])))


def window_mask(case):
    """True where query i sees key j; None without a window."""
    queries, keys = case["S"], case.get("S_KV", case["S"])
    if not case.get("WINDOW"):
        return None
    distance = torch.arange(queries, device="cuda")[:, None] + keys - queries - torch.arange(keys, device="cuda")
    return (distance < case["WINDOW"]) & (distance >= 0 if case.get("CAUSAL") else True)


def scale_of(case):
    return case.get("SCALE") or 1 / math.sqrt(case["D"])


class Backend:
    """A backend of SDPA."""

    def __init__(self, name):
        self.name = name

    def prepare(self, case, q, k, v):
        if case.get("LSE"):
            raise NotImplementedError("scaled_dot_product_attention gives no log-sum-exp")
        if case.get("SOFT_CAP") or case.get("SINKS"):
            raise NotImplementedError("scaled_dot_product_attention has neither a soft cap of logits nor attention sinks")
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


class Optional:
    """An implementation that needs a package which may be missing. Whatever it raises for a case, as these packages
    do in types of their own, means that it cannot compute it."""

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

    def prepare(self, case, q, k, v):
        module = self.load()
        try:
            return self.arguments(module, case, q, k, v)
        except NotImplementedError:
            raise
        except Exception as reason:
            raise NotImplementedError(one_line(reason)) from None

    def __call__(self, *arguments):
        try:
            return self.call(*arguments)
        except Exception as reason:
            raise NotImplementedError(one_line(reason)) from None


def one_line(reason):
    return " ".join(f"{type(reason).__name__}: {reason}".split())[:200]


class FlashAttention4(Optional):
    """In its own layout, [B, S, H, D]; a slice of a larger tensor stays one. Of few queries it may split the keys, which
    num_splits=0 leaves to it."""

    def __init__(self, splits):
        super().__init__("flash-attn-4", "flash_attn.cute")
        self.splits = splits

    def arguments(self, module, case, *tensors):
        if self.splits != 1 and case["S"] > FEW_QUERIES:
            raise NotImplementedError(f"keys are split where there are at most {FEW_QUERIES} queries")
        if case.get("SINKS"):
            raise NotImplementedError("sinks are not passed on to flash-attn-4")
        rows = [one.transpose(1, 2) for one in tensors]
        return module.flash_attn_func, case, *(rows if case.get("GAP") else [one.contiguous() for one in rows])

    def call(self, attend, case, q, k, v):
        options = {"num_splits": self.splits} if self.splits != 1 else {}
        if case.get("WINDOW"):
            options["window_size"] = (case["WINDOW"] - 1, 0 if case.get("CAUSAL") else None)
        if case.get("SOFT_CAP"):
            options["softcap"] = float(case["SOFT_CAP"])
        return attend(q, k, v, softmax_scale=scale_of(case), causal=bool(case.get("CAUSAL")),
                      return_lse=bool(case.get("LSE")), **options)


class CudnnFrontEnd(Optional):
    """The best plan of cuDNN's heuristics; every set of inputs has a graph, an output and a workspace of its own."""

    def __init__(self):
        super().__init__("nvidia-cudnn-frontend", "cudnn")
        self.handle = None

    def arguments(self, cudnn, case, q, k, v):
        if case.get("WINDOW") or case.get("SOFT_CAP") or case.get("SINKS"):
            raise NotImplementedError("windows, soft caps and sinks are not passed on to cuDNN's front end")
        if self.handle is None:
            self.handle = cudnn.create_handle()
        element = cudnn.data_type.BFLOAT16 if case.get("BF16") else cudnn.data_type.HALF
        graph = cudnn.pygraph(io_data_type=element, intermediate_data_type=cudnn.data_type.FLOAT,
                              compute_data_type=cudnn.data_type.FLOAT, handle=self.handle)
        described = [graph.tensor_like(one) for one in (q, k, v)]
        masks = {"use_causal_mask" if q.shape[2] == k.shape[2] else "use_causal_mask_bottom_right": True}
        output, stats = graph.sdpa(name="attention", q=described[0], k=described[1], v=described[2],
                                   generate_stats=bool(case.get("LSE")), attn_scale=scale_of(case),
                                   **(masks if case.get("CAUSAL") else {}))
        o = tensor(case, case["H"], case["S"], case.get("DV", case["D"]))
        output.set_output(True).set_dim(list(o.shape)).set_stride(list(o.stride()))
        bound = dict(zip(described, (q, k, v))) | {output: o}
        if case.get("LSE"):
            bound[stats] = torch.empty(*q.shape[:3], 1, device="cuda", dtype=torch.float32)
            stats.set_output(True).set_data_type(cudnn.data_type.FLOAT)
        graph.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        workspace = torch.empty(max(graph.get_workspace_size(), 1), device="cuda", dtype=torch.uint8)
        return cudnn, graph, bound, workspace

    def call(self, cudnn, graph, bound, workspace):
        cudnn.set_stream(handle=self.handle, stream=torch.cuda.current_stream().cuda_stream)
        graph.execute(bound, workspace, handle=self.handle)


IMPLEMENTATIONS = {
    "flash": Backend("FLASH_ATTENTION"), "cudnn": Backend("CUDNN_ATTENTION"),
    "efficient": Backend("EFFICIENT_ATTENTION"), "math": Backend("MATH"),
    "fa4": FlashAttention4(splits=1), "fa4_split": FlashAttention4(splits=0), "cudnn_frontend": CudnnFrontEnd(),
}
