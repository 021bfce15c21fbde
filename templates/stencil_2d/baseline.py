"""What a user would run instead of stencil_2d: the formula on slices of PyTorch's tensors, as it is and with a compiled
step. torch_baseline.py times it."""
import torch

NAME = "wave equation on slices"


def inputs(case):
    grids = [torch.randn(case["H"], case["W"], device="cuda") for _ in range(2)]
    return (*grids, case["STEPS"], case["COURANT"])


def step(now, before, courant):
    """Writes what comes after `now` over `before`, except at the edge."""
    inner = now[1:-1, 1:-1]
    neighbours = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
    before[1:-1, 1:-1] = 2 * inner - before[1:-1, 1:-1] + courant * (neighbours - 4 * inner)


compiled_step = torch.compile(step, dynamic=False)


def wave(start, before_start, steps, courant, advance=step):
    now, before = start.clone(), start.clone()  # the edges of both stay as they are
    before[1:-1, 1:-1] = before_start[1:-1, 1:-1]
    for _ in range(steps):
        advance(now, before, courant)
        now, before = before, now
    return now, before


def wave_compiled(start, before_start, steps, courant):
    return wave(start, before_start, steps, courant, compiled_step)


IMPLEMENTATIONS = {"eager": wave, "compiled": wave_compiled}
