"""What a user would run instead of quantized_gemv: PyTorch's int4 product where it takes the case, the product of a matrix that
was dequantised before, and dequantising in the call, as it is and compiled. torch_baseline.py times it."""
import torch

NAME = "int4 linear"


def inputs(case):
    dtype = torch.bfloat16 if case["BF16"] else torch.float16
    n, k, group = case["N"], case["K"], case["GROUP"]
    if k % group:
        raise NotImplementedError(f"the last of K = {k} columns are no whole group of {group}")
    x = torch.randn(case["M"], k, device="cuda", dtype=dtype)
    weights = torch.randint(0, 256, (n, k // 2), device="cuda", dtype=torch.uint8)
    return x, weights, torch.randn(k // group, n, 2, device="cuda", dtype=dtype)


def dequantised(x, weights, scales_zeros):
    """W in the dtype of x: column 2 i is in bits 0 to 3 of byte i."""
    integers = torch.stack([weights & 15, weights >> 4], dim=-1).to(x.dtype) - 8
    of_groups = integers.view(weights.shape[0], scales_zeros.shape[0], -1)
    of_rows = scales_zeros.transpose(0, 1)
    return (of_groups * of_rows[..., :1] + of_rows[..., 1:]).view(weights.shape[0], -1)


def product(x, weights, scales_zeros):
    return x @ dequantised(x, weights, scales_zeros).t()


prepared = {}  # what a program computes once, when it loads its weights, by their address


def once(kind, weights, make):
    key = kind, weights.data_ptr()
    if key not in prepared:
        prepared[key] = weights, make()  # holds the weights, so that no others get their address
    return prepared[key][1]


def product_of_dequantised(x, weights, scales_zeros):
    return x @ once("dequantised", weights, lambda: dequantised(x, weights, scales_zeros)).t()


def int4(x, weights, scales_zeros):
    n, k, group = weights.shape[0], x.shape[1], x.shape[1] // scales_zeros.shape[0]
    if x.dtype != torch.bfloat16:
        raise NotImplementedError("torch._weight_int4pack_mm takes bfloat16 only")
    if n % 8 or k % 128:
        raise NotImplementedError("torch._weight_int4pack_mm needs N in multiples of 8 and K of 128")

    def pack():  # which has the even column in bits 4 to 7
        return torch._convert_weight_to_int4pack((weights << 4) | (weights >> 4), 8)

    return torch._weight_int4pack_mm(x, once("int4", weights, pack), group, scales_zeros)


IMPLEMENTATIONS = {"eager": product, "compiled": torch.compile(product, dynamic=False),
                   "dequantised": product_of_dequantised, "int4": int4}
