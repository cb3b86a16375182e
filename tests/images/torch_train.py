"""Trains with PyTorch's DistributedDataParallel over gloo, in the ranks of a hai job: y = 3a - 2b + 0.5 out of 64
examples. At each step of HOLDS it saves, and goes on only in another attempt. Says what it found, for torch_test.py."""

import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import hai

STEPS, RATE = 200, 0.5
HOLDS = [int(step) for step in os.environ["HOLDS"].split(",")]
CHECKPOINT = os.path.join(os.environ["WORK"], "checkpoint.pt")


def examples():
    grid = torch.linspace(-1, 1, 8)
    inputs = torch.cartesian_prod(grid, grid)
    return inputs, inputs @ torch.tensor([[3.0], [-2.0]]) + 0.5


def new_model():
    model = torch.nn.Linear(2, 1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    return model


def step(model, inputs, outputs):
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), outputs)
    loss.backward()
    optimizer.step()
    return loss.item()


def is_any_asked_to_leave():
    """The same answer on all ranks, at the same step."""
    asked = torch.tensor([float(hai.receive_suspend_command())])
    dist.all_reduce(asked, op=dist.ReduceOp.MAX)
    return asked.item() > 0


def main():
    dist.init_process_group("gloo")  # RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT are hai's
    rank, size = dist.get_rank(), dist.get_world_size()
    total = torch.tensor([rank + 1.0])
    dist.all_reduce(total)
    print(f"rank {rank} of {size}: torch {torch.__version__}, sum {total.item():g}", flush=True)
    net, at = new_model(), 0
    if os.path.exists(CHECKPOINT):
        kept = torch.load(CHECKPOINT)
        net.load_state_dict(kept["net"])
        at = kept["step"]
    print(f"rank {rank} begins at step {at}", flush=True)
    began_at = at
    model = DistributedDataParallel(net)
    inputs, outputs = examples()
    mine, wanted = inputs[rank::size], outputs[rank::size]
    while at < STEPS:
        if at in HOLDS and at > began_at:
            if rank == 0:
                torch.save({"net": net.state_dict(), "step": at}, CHECKPOINT)
                hai.report_checkpoint(at, CHECKPOINT)
                print(f"holds at step {at}", flush=True)
            while not is_any_asked_to_leave():
                time.sleep(0.05)
            dist.barrier()
            hai.go_suspend()
        step(model, mine, wanted)
        at += 1
    alone = new_model()
    for _ in range(STEPS):
        step(alone, inputs, outputs)
    is_same = all(torch.allclose(one, other, atol=1e-5) for one, other in zip(net.parameters(), alone.parameters()))
    (a, b), offset = net.weight[0].tolist(), net.bias.item()
    print(f"rank {rank} ends with {a:.3f} {b:.3f} {offset:.3f}, as one process: {is_same}", flush=True)
    dist.destroy_process_group()


main()
