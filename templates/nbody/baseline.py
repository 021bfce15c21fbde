"""What a user would run instead of nbody: all pairs by PyTorch, as it is, some bodies at a time, and compiled, which keeps
no matrix of pairs. torch_baseline.py times it."""
import torch

NAME = "all pairs"
ROWS = 1024  # attracted bodies at a time, so that the matrices of pairs fit


def inputs(case):
    position = torch.randn(case["N"], 3, device="cuda")
    return (position, torch.rand(case["N"], device="cuda") * 1.5 + 0.5, case["SOFTENING"])


def attract(attracted, position, mass, softening):
    dx, dy, dz = (position[None, :, axis] - attracted[:, None, axis] for axis in range(3))
    inverse = torch.rsqrt(dx * dx + dy * dy + dz * dz + softening)
    scale = mass * inverse * inverse * inverse
    return torch.stack([(dx * scale).sum(1), (dy * scale).sum(1), (dz * scale).sum(1)], 1)


def some_at_a_time(position, mass, softening):
    return torch.cat([attract(rows, position, mass, softening) for rows in position.split(ROWS)])


compiled_attract = torch.compile(attract, dynamic=False)


def all_at_once(position, mass, softening):
    return compiled_attract(position, position, mass, softening)


IMPLEMENTATIONS = {"eager": some_at_a_time, "compiled": all_at_once}
