"""A program whose calls evotile.record records: layers on the meta device, which has shapes and no data.

tests/calls/recorded.jsonl is what it recorded with PyTorch 2.15; tests/python/record.py compares.
"""
import sys

import torch
import torch.nn.functional as F

half = {"device": "meta", "dtype": torch.float16}
x = torch.empty(2, 8, 64, device="meta")
hidden, weight = torch.empty(2, 8, 64, **half), torch.empty(64, **half)
q = torch.empty(2, 4, 16, 64, **half)
by_rows = torch.empty(2, 16, 4, 64, device="meta", dtype=torch.bfloat16).transpose(1, 2)
layer = torch.nn.Linear(64, 32, **half)

with torch.no_grad():
    for _ in range(int(sys.argv[1])):
        F.softmax(x, -1)
        torch.softmax(x.transpose(1, 2), 1)
    x.softmax(2)
    torch.nn.Softmax(dim=1)(x)
    F.softmax(hidden, dim=-1, dtype=torch.float32)
    F.rms_norm(hidden, (64,), weight)
    torch.nn.RMSNorm(64, eps=1e-4, **half)(hidden)
    F.scaled_dot_product_attention(q, q, q, is_causal=True)
    F.scaled_dot_product_attention(by_rows, by_rows, by_rows, scale=0.5)
    F.scaled_dot_product_attention(q, q[:, :, :8], q[:, :, :8], is_causal=True)
    F.scaled_dot_product_attention(q[:, :, :1].contiguous(), q[:, :2].contiguous(), q[:, :2].contiguous(), enable_gqa=True)
    F.scaled_dot_product_attention(q[:, :, :1], q, q)
    F.scaled_dot_product_attention(q, q, q, dropout_p=0.1)
    F.gelu(layer(hidden))
