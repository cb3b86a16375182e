"""docs/inside-a-job.md as somebody follows it: each command that it shows is run as it stands, or named below with
the test that runs one like it."""

import pathlib
import subprocess
import tarfile
import unittest
import urllib.request

from cluster import ClusterTest, eventually, programs
from terminal import Terminal

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "inside-a-job.md"
ELSEWHERE = {
    "hai forward notebook 8888": "shell_test: the port is taken here, where nodes and laptop are one machine",
    "hai forward notebook db": "service_test, likewise",
    "hai python -i -- --pty -i team/box:1": "image_slurm_test, which has a registry",
    "hai ssh train": "shell_ssh_test, which has an account with a shell",
    "hai ssh train -r 2 -- nvidia-smi": "shell_ssh_test",
    "hai ssh --config train >> ~/.ssh/config": "shell_ssh_test",
    "scp data.tar hai-train:": "shell_ssh_test",
}
TRAIN = """
if [ $HAI_NODE_RANK = 1 ]; then exec python3 -m http.server --bind 127.0.0.1 6006; fi
exec sleep 600
"""
SERVE = "exec python3 -m http.server --bind 127.0.0.1 8888"
JOB = """version: 2
name: {name}
spec: {{workspace: {work}, entrypoint: {name}.sh}}
resource: {{group: training, node_count: 1, gpus_per_node: 1}}
{more}
"""


def commands():
    """What stands behind `$ ` in the guide, without what stands behind `#`."""
    found, is_shown = [], False
    for line in GUIDE.read_text().splitlines():
        if line.startswith("```"):
            is_shown = line == "```console"
        elif is_shown and line.startswith("$ "):
            found.append(line[2:].split("  #")[0].strip())
    return found


class InsideGuideTest(ClusterTest):
    shape = {"name": "guide", "nodes": 4}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        work = cls.cluster.work
        (work / "checkpoints").mkdir()
        (work / "checkpoints" / "step-1").write_text("weights\n")
        cls.cluster.file("nvidia-smi", "#!/bin/sh\necho GPUs of rank $HAI_NODE_RANK\n").chmod(0o755)
        cls.cluster.file("train.sh", TRAIN)
        cls.cluster.file("notebook.sh", SERVE)
        services = "services: [jupyter:8888:keep_path, board:6006, db:5432:tcp]"
        cls.cluster.file("notebook.yaml", JOB.format(name="notebook", work=work, more=services))
        cls.cluster.file("train.yaml", JOB.format(name="once", work=work, more=""))
        cls.cluster.file("once.sh", "tty; echo of the file; exit 3\n")
        path = f"{programs() / 'slurm'}:{programs()}:{work}:/usr/bin:/bin"
        cls.env = cls.cluster.environment(TERM="dumb", PATH=path, SHELL="/bin/sh")
        cls.path = path

    def command(self, text, seconds=90):
        return subprocess.run(["sh", "-c", text], env=self.env, cwd=self.cluster.work, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=seconds)

    def good(self, text):
        done = self.command(text)
        self.assertEqual(done.returncode, 0, f"{text}: {done.stdout}{done.stderr}")
        return done.stdout

    def terminal(self, text):
        terminal = Terminal(["sh", "-c", text], self.env, cwd=self.cluster.work, columns=200)
        self.addCleanup(terminal.close)
        return terminal

    @staticmethod
    def see_prompt(terminal):
        terminal.until("a prompt", lambda seen: seen.rstrip().endswith(("$", "#")), 60)

    def in_terminal(self, text, types="echo i\"\"n $HAI_JOB_NAME; exit 5\n", sees="in ", code=5):
        terminal = self.terminal(text)
        self.see_prompt(terminal)
        terminal.type(types)
        terminal.see(sees, seconds=60)
        self.assertEqual(terminal.end(), code, text)

    def forwarded(self, text):
        """What is at the port that it says it opened."""
        process = subprocess.Popen(["sh", "-c", f"exec {text}"], env=self.env, cwd=self.cluster.work,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        port = int(line.split("127.0.0.1:")[1].split()[0].strip("/,;"))
        return eventually("its program answers", lambda: self.answer_at(port), 60)

    @staticmethod
    def answer_at(port):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
                return answer.read().decode()
        except OSError:  # it has only just begun
            return None

    def start_train(self):
        spec = self.cluster.spec("train", "train.sh", nodes=4, gpus=1, environments={"PATH": self.path})
        self.cluster.wait_running(self.cluster.run(spec))

    def test_each_command_is_run_here_or_elsewhere(self):
        self.assertEqual([text for text in commands() if text not in ELSEWHERE], self.steps())
        self.assertEqual([text for text in ELSEWHERE if text not in commands()], [])

    @staticmethod
    def steps():
        return [
            "hai shell train",
            "hai shell train -r 3 -- nvidia-smi",
            "hai shell train -- tar cz checkpoints > checkpoints.tgz",
            "hai forward train 6006:0 -r 1",
            "hai exec bash -- --pty --gpus 1",
            "hai run train.yaml --pty",
            "srun --pty --gpus=1 bash",
            "salloc -N2 --gpus-per-node=8",
            "srun --pty -w node-4 bash",
            "hai run notebook.yaml",
            "hai status notebook",
        ]

    def test_it_is_as_it_says(self):
        shell, smi, tar, board, execs, file, srun, salloc, inner, run, status = self.steps()
        self.start_train()
        self.in_terminal(shell, 'echo i""n $HAI_JOB_NAME $HAI_NODE_RANK; exit 5\n', "in train 0")
        self.assertEqual(self.good(smi), "GPUs of rank 3\n")
        self.good(tar)
        with tarfile.open(self.cluster.work / "checkpoints.tgz") as archive:
            self.assertIn("checkpoints/step-1", archive.getnames())
        self.assertIn("checkpoints", self.forwarded(board))
        self.cluster.ok("stop", "train")
        self.cluster.wait_end("train", "stopped")
        self.in_terminal(execs)
        terminal = self.terminal(file)
        terminal.see("/dev/pts/", "of the file", seconds=60)
        self.assertEqual(terminal.end(), 3)
        self.in_terminal(srun)
        self.cluster.ok("cordon", "node-1", "node-2")
        terminal = self.terminal(salloc)
        self.see_prompt(terminal)
        terminal.type(f"{inner}\n")
        terminal.type('echo i""n $SLURMD_NODENAME of $SLURM_JOB_NUM_NODES\n')
        terminal.see("in node-4 of 2", seconds=60)
        terminal.type("exit 6\n")
        terminal.see("Exited with exit code 6")
        terminal.type("exit 7\n")
        self.assertEqual(terminal.end(), 7)
        self.cluster.ok("undrain", "node-1", "node-2")
        self.good(run)
        self.cluster.wait_running("notebook")
        self.assertRegex(self.good(status), r"service +jupyter at https://127.0.0.1:\d+/jobs/\d+/jupyter/")


if __name__ == "__main__":
    unittest.main()
