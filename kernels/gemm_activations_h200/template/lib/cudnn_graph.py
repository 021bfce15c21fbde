"""Graphs of cuDNN's front end (the package nvidia-cudnn-frontend) for a template's baseline.py, beside torch_baseline.py."""
import torch

PACKAGES = ["nvidia-cudnn-frontend", "nvidia-cudnn-cu13"]  # whose versions a baseline names


def one_line(reason):
    return " ".join(f"{type(reason).__name__}: {reason}".split())[:200]


def load():
    try:
        import cudnn
    except ImportError:
        raise NotImplementedError("nvidia-cudnn-frontend is not installed") from None
    return cudnn


class CudnnGraph:
    """The best plan of cuDNN's heuristics for one set of tensors, with a workspace of its own. describe(graph) adds the
    operations and marks their outputs; it returns the tensor of each description, and what a call returns."""

    handle = None  # of all graphs

    def __init__(self, cudnn, is_bf16, describe):
        if CudnnGraph.handle is None:
            CudnnGraph.handle = cudnn.create_handle()
        self.cudnn = cudnn
        self.graph = cudnn.pygraph(io_data_type=cudnn.data_type.BFLOAT16 if is_bf16 else cudnn.data_type.HALF,
                                   intermediate_data_type=cudnn.data_type.FLOAT,
                                   compute_data_type=cudnn.data_type.FLOAT, handle=CudnnGraph.handle)
        self.bound, self.result = describe(self.graph)
        self.graph.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        self.workspace = torch.empty(max(self.graph.get_workspace_size(), 1), device="cuda", dtype=torch.uint8)

    def __call__(self):
        self.cudnn.set_stream(handle=CudnnGraph.handle, stream=torch.cuda.current_stream().cuda_stream)
        self.graph.execute(self.bound, self.workspace, handle=CudnnGraph.handle)
        return self.result


def new_graph(is_bf16, describe):
    """A graph, where the package is installed. What it cannot do raises NotImplementedError."""
    cudnn = load()
    try:
        return CudnnGraph(cudnn, is_bf16, describe)
    except Exception as reason:
        raise NotImplementedError(one_line(reason)) from None
