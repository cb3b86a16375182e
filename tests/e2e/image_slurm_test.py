"""Slurm's commands with container images, as pyxis has them: sbatch, srun and salloc."""

import os
import pty
import subprocess
import unittest

from cluster import programs
from image_site import ImageSite


class ImageSlurmTest(ImageSite):
    def slurm(self, command, *words):
        return subprocess.run([str(programs() / "slurm" / command), *map(str, words)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=90, cwd=self.cluster.work,
                              env=self.cluster.environment(**self.env))

    def test_a_batch_script_and_its_steps_run_in_an_image(self):
        script = self.cluster.file("steps.sh", f"""#!/bin/sh
#SBATCH -N2 --gpus-per-node=1 --time=5:00
#SBATCH --container-image={self.registry.host}#team/box:1
#SBATCH --container-mounts={self.site}/data:/in:ro,{self.site}/data:/out
#SBATCH --container-workdir=/opt/image
echo "script in $PWD: $(cat word) of=$OF_IMAGE $(cat /in/word) $1 path=$PATH"
srun -l sh -c 'echo "task $SLURM_PROCID of $SLURM_NTASKS in $PWD: $(cat word)"' | grep task
echo "hosts $(scontrol show hostnames | wc -l)"
srun -N1 --container-image={self.registry.host}#team/box:1 --container-mounts={self.site}/data:/out true && echo same
srun --container-image=other true || echo "other image: $?"
srun --container-mounts=/etc true || echo "other mount: $?"
squeue || echo "squeue: $?"
touch /out/of-slurm
exit 7
""")
        done = self.slurm("sbatch", "--parsable", script, "word")
        self.assertEqual(done.returncode, 0, done)
        job = int(done.stdout)
        self.assertEqual(self.cluster.wait_end(job, "failed")["exit_code"], 7)
        log = self.cluster.log(job)
        self.assertRegex(log, r"script in /opt/image: inside of=yes of the data word path=\S*/bin:/opt/image/bin:/bin\n")
        for task in (0, 1):
            self.assertIn(f"task {task} of 2 in /opt/image: inside\n", log)
        for line in ("hosts 2", "same", "other image: 2", "other mount: 2", "squeue: 2"):
            self.assertIn(f"{line}\n", log)
        self.assertIn(f"this job runs in docker://{self.name}, and so do its steps", log)
        self.assertIn("squeue: error: works outside of container images only", log)
        self.assertTrue((self.site / "data" / "of-slurm").exists())
        self.assertEqual((self.cluster.work / f"slurm-{job}.out").read_text().count("script in"), 1)
        self.assertIn(f"{self.name}@{self.digest}", self.cluster.ok("describe", job, "--spec", env=self.env))

    def test_srun_alone_runs_in_an_image(self):
        done = self.slurm("srun", "-N2", "--gpus-per-node=1", f"--container-image={self.name}",
                          "cat", "/opt/image/word")
        self.assertEqual((done.returncode, done.stdout), (0, "inside\ninside\n"), done)
        done = self.slurm("srun", "--gpus-per-node=1", f"--container-image={self.name}", "no-such-program")
        self.assertEqual(done.returncode, 127, done)

    def test_a_terminal_in_an_image(self):
        self.terminal("salloc", "echo in-$PWD-$(cat word)\rexit 3\r", "in-/opt/image-inside", 3)
        self.terminal("srun", "echo in-$PWD-$(cat word)\rexit 4\r", "in-/opt/image-inside", 4, "--pty", "sh")

    def terminal(self, command, typed, shown, code, *words):
        options = ("--gpus-per-node=1", f"--container-image={self.name}", "--container-workdir=/opt/image")
        ours, its = pty.openpty()
        process = subprocess.Popen([str(programs() / "slurm" / command), *options, *words], stdin=its, stdout=its,
                                   stderr=its, cwd=self.cluster.work, env=self.cluster.environment(**self.env))
        os.close(its)
        self.addCleanup(process.kill)
        seen = b""
        os.write(ours, typed.encode())
        try:
            while piece := os.read(ours, 65_536):
                seen += piece
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(60), code, seen)
        self.assertIn(shown, seen.decode())

    def test_what_slurms_options_cannot_do_is_said_before_anything_happens(self):
        before = len(self.cluster.json("list", "-a"))
        for words, code, why in (
            (["--container-image=/data/box.sqsh"], 2, "--container-image: nodes read no squashfs files"),
            (["--container-mounts=/data:/data"], 2, "--container-mounts: is for jobs with --container-image"),
            ([f"--container-image={self.name}", "--container-mounts=/proc:/x"], 2, "ranks have their own"),
            ([f"--container-image={self.name}", "--container-name=x"], 2, "--container-name is not supported"),
            ([f"--container-image={self.registry.host}#team/none:1"], 4, "unknown"),
        ):
            done = self.slurm("sbatch", *words, "--wrap", "true")
            self.assertEqual(done.returncode, code, done)
            self.assertIn(why, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(len(self.cluster.json("list", "-a")), before)


if __name__ == "__main__":
    unittest.main()
