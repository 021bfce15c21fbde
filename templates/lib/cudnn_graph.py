"""Graphs of cuDNN's front end (the package nvidia-cudnn-frontend) for a template's baseline.py, beside torch_baseline.py."""
import torch

PACKAGES = ["nvidia-cudnn-frontend", "nvidia-cudnn-cu13"]  # whose versions a baseline names


def one_line(reason):
    return " ".join(f"{type(reason).__name__}: {reason}".split())[:200]


class CudnnGraph:
    """The best plan of cuDNN's heuristics for one set of tensors, with a workspace of its own. describe(cudnn, graph)
    adds the operations, and returns what describes the result and, of each input's description, its tensor. What
    cuDNN cannot do raises NotImplementedError."""

    handle = None  # of all graphs

    def __init__(self, result, describe):
        try:
            import cudnn
        except ImportError:
            raise NotImplementedError("nvidia-cudnn-frontend is not installed") from None
        try:
            self.build(cudnn, result, describe)
        except Exception as reason:
            raise NotImplementedError(one_line(reason)) from None

    def build(self, cudnn, result, describe):
        if CudnnGraph.handle is None:
            CudnnGraph.handle = cudnn.create_handle()
        element = cudnn.data_type.HALF if result.dtype == torch.float16 else cudnn.data_type.BFLOAT16
        self.cudnn, self.result = cudnn, result
        self.graph = cudnn.pygraph(io_data_type=element, intermediate_data_type=cudnn.data_type.FLOAT,
                                   compute_data_type=cudnn.data_type.FLOAT, handle=CudnnGraph.handle)
        output, self.bound = describe(cudnn, self.graph)
        output.set_output(True).set_data_type(element)
        self.bound[output] = result
        self.graph.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        self.workspace = torch.empty(max(self.graph.get_workspace_size(), 1), device="cuda", dtype=torch.uint8)

    def __call__(self):
        self.cudnn.set_stream(handle=CudnnGraph.handle, stream=torch.cuda.current_stream().cuda_stream)
        self.graph.execute(self.bound, self.workspace, handle=CudnnGraph.handle)
        return self.result
