# The baseline of attention over a cache: what it draws, what it asks of each package, and what it says of one that is
# missing or refuses a case. PyTorch and the GPU are stand-ins (stand_in/torch.py), and so are the packages.
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$ROOT/tests/cli/stand_in:$PWD/packages:$ROOT/templates/lib
mkdir -p packages/flash_attn
cat >packages/flash_attn/__init__.py <<'PYTHON'
import torch


def flash_attn_with_kvcache(q, k, v, *, block_table=None, **options):
    if block_table is not None:
        raise RuntimeError("pages must have a multiple of 256 keys\nand more")
    return torch.attended
PYTHON
cat >packages/flash_attn/cute.py <<'PYTHON'
import sys

import torch


def flash_attn_varlen_func(q, k, v, **options):
    print("fa4", sorted(options), file=sys.stderr)
    return torch.attended, torch.lse
PYTHON
cat >packages/cudnn.py <<'PYTHON'
import sys
from unittest.mock import MagicMock


class pygraph(MagicMock):
    def sdpa(self, **options):
        print("cudnn", sorted(name for name in options if name not in "qkv"), file=sys.stderr)
        return MagicMock(), MagicMock()

    def get_workspace_size(self):
        return 0


create_handle, set_stream, data_type, heur_mode = MagicMock(), MagicMock(), MagicMock(), MagicMock()
PYTHON
cat >packages/flashinfer.py <<'PYTHON'
import sys

import torch

class BatchDecodeWithPagedKVCacheWrapper:
    def __init__(self, workspace, layout, use_tensor_cores):
        print(layout, use_tensor_cores, file=sys.stderr)
    def plan(self, firsts, pages, last_rows, *extents, **options):
        self.extents = extents
    def run(self, q, pools, return_lse):
        assert self.extents == (8, 2, 64, 16), self.extents
        return (torch.attended, torch.lse) if return_lse else torch.attended
PYTHON
case='"B": 3, "H": 8, "H_KV": 2, "S": 1, "S_KV": 100, "D": 64, "PAGE": 16, "RAGGED": 1, "CAUSAL": 1, "BF16": 0,
      "FP8": 0, "BSHD": 0, "LSE": 0, "SCALE": 0'
ask() { # CHANGED DIMENSIONS: what the baseline answers
    jq -nc --argjson case "{$case, $1}" '
        {ask: "begin", protocol: 1, device: "cuda:0", device_name: "a GPU"},
        ({ask: "capture", case: $case, launches: 4, sets: 2, implementation:
              ("sdpa_gathered", "cudnn", "cudnn_frontend", "fa4", "flash2", "flash3", "flashinfer", "flashinfer_tensor_cores")},
         {ask: "warm", warmup_us: 100, samples: 2})' |
        (cd "$ROOT/templates/attention_decode" && python3 "$ROOT/templates/lib/torch_baseline.py" baseline.py 2>&1) |
        grep -v 'nothing is captured' | uniq | sed 's/for [^ ]*python[^ ]* (/for PYTHON (/'
}
for changed in '"S": 1' '"PAGE": 0, "S": 7, "BSHD": 1' '"LSE": 1, "BSHD": 1, "RAGGED": 0' '"FP8": 1'; do
    echo "$changed"
    ask "$changed"
done
cat >drawn.py <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import torch
import baseline

case = {"B": 40, "H": 4, "H_KV": 2, "S": 3, "S_KV": 500, "D": 64, "PAGE": 16, "RAGGED": 1, "CAUSAL": 1, "BF16": 0,
        "FP8": 0, "BSHD": 0, "LSE": 0, "SCALE": 0}
for _ in range(50):
    cache = baseline.Cache(case)
    for i, length in enumerate(sorted(cache.lengths)):
        assert i * 500 // 40 <= length <= (i + 1) * 500 // 40, (i, length)
    assert [len(own) for own in cache.sequence_pages] == [-(-length // 16) for length in cache.lengths]
    pages = sum(cache.sequence_pages, [])
    assert len(set(pages)) == len(pages) and max(pages) < 40 * 32
    assert min(baseline.draw_lengths({**case, "LSE": 1})) >= 3
small = {**case, "B": 2, "S_KV": 48}
given, = baseline.inputs(small, {"lengths": [17, 33], "page_table": [5, 0, -1, 2, 4, 1]})
assert given.lengths == [17, 33] and given.sequence_pages == [[5, 0], [2, 4, 1]], given.sequence_pages
assert set(baseline.draw_lengths({**case, "RAGGED": 0})) == {500}
baseline.visible_keys({**case, "S_KV": 9}, [9, 1])
assert torch.tensor.call_args.args[0] == [[7, 8, 9], [-1, 0, 1]], torch.tensor.call_args
baseline.visible_keys({**case, "CAUSAL": 0}, [9, 1])
assert torch.tensor.call_args.args[0] == [[9, 9, 9], [1, 1, 1]], torch.tensor.call_args
assert baseline.visible_keys({**case, "S": 1, "RAGGED": 0}, [9]) is None
print("lengths, pages and masks are right")
PYTHON
python3 drawn.py "$ROOT/templates/attention_decode"
