"""A small training on one GPU that saves and leaves when it is asked to. Its weights at the end are
the same, bit for bit, however often it was interrupted. Needs PyTorch with CUDA."""

import hashlib
import os
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else cuBLAS is not deterministic
import torch

sys.path.insert(0, os.environ["SDK"])
import hai

folder, steps, step_seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
torch.use_deterministic_algorithms(True)
torch.manual_seed(1)
net = torch.nn.Sequential(
    torch.nn.Linear(1024, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 1024)
).cuda()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
first = 0
if os.environ.get("HAI_CHECKPOINT"):
    saved = torch.load(os.environ["HAI_CHECKPOINT"])
    net.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    first = saved["step"]
print(f"from step {first} on {torch.cuda.get_device_name()}", flush=True)
for step in range(first, steps):
    draw = torch.Generator("cuda").manual_seed(step)
    batch = torch.randn(4096, 1024, device="cuda", generator=draw)
    optimizer.zero_grad()
    loss = (net(batch) - batch.flip(1)).square().mean()
    loss.backward()
    optimizer.step()
    hai.report_progress(step + 1)
    if hai.receive_suspend_command():
        began = time.monotonic()
        path = os.path.join(folder, f"step-{step + 1}.pt")
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}, path)
        hai.report_checkpoint(step + 1, path, time.monotonic() - began)
        print(f"saved after step {step + 1}", flush=True)
        hai.go_suspend()
    time.sleep(step_seconds)
weights = b"".join(each.detach().cpu().numpy().tobytes() for each in net.parameters())
print(f"loss {loss.item():.6f}, weights {hashlib.sha256(weights).hexdigest()}", flush=True)
