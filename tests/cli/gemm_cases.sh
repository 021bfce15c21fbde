# Which calls of a program are cases of gemm: layers with and without bias, products of operands stored either way, batches;
# and a slice, whose rows have gaps, is none.
cat >calls.jsonl <<'CALLS'
{"operator": "aten::linear", "arguments": {"input": {"shape": [2, 8, 64], "strides": [512, 64, 1], "dtype": "bf16"}, "weight": {"shape": [128, 64], "strides": [64, 1], "dtype": "bf16"}, "bias": null}, "count": 4}
{"operator": "aten::linear", "arguments": {"input": {"shape": [1, 64], "strides": [64, 1], "dtype": "f16"}, "weight": {"shape": [128, 64], "strides": [64, 1], "dtype": "f16"}, "bias": {"shape": [128], "strides": [1], "dtype": "f16"}}, "count": 2}
{"operator": "aten::mm", "arguments": {"self": {"shape": [16, 64], "strides": [1, 16], "dtype": "f16"}, "mat2": {"shape": [64, 32], "strides": [1, 64], "dtype": "f16"}}, "count": 2}
{"operator": "aten::bmm", "arguments": {"self": {"shape": [3, 16, 64], "strides": [1024, 64, 1], "dtype": "bf16"}, "mat2": {"shape": [3, 64, 32], "strides": [2048, 32, 1], "dtype": "bf16"}}, "count": 2}
{"operator": "aten::mm", "arguments": {"self": {"shape": [16, 64], "strides": [128, 1], "dtype": "f16"}, "mat2": {"shape": [64, 32], "strides": [1, 64], "dtype": "f16"}}, "count": 2}
CALLS
"$EVOTILE" cases gemm --from-torch calls.jsonl 2>&1
