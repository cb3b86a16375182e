"""Jobs that run in container images: from a registry on loopback, from layouts and archives, from
root folders; on nodes that confine their ranks strictly."""

import json
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import tarfile
import unittest

from cluster import eventually, programs
from image_site import ANN, NODES, ImageSite
from oci_image import entry, layer, write_layout

LOOK = 'echo "of=$OF_IMAGE file=$(cat /opt/image/word) user=$(id -un) there=$(ls /usr/bin/python3 2>&1)"'


class ImageTest(ImageSite):
    # -- what it is

    def test_a_rank_sees_the_image_and_not_the_node(self):
        log = self.said_by("sees", LOOK, self.name)
        self.assertIn("of=yes file=inside user=nobody", log)
        self.assertIn("there=ls: /usr/bin/python3: No such file", log)

    def test_the_tag_is_what_it_was_when_it_was_submitted(self):
        job = self.start("pinned", LOOK, self.name, gpus=1)
        spec = self.cluster.ok("describe", job, "--spec", env=self.env)
        self.assertIn(f"docker://{self.name}@{self.digest}", spec)
        other = self.site / "other"
        write_layout(other, [self.base, self.word, layer([entry("opt/image/word", b"changed\n")])])
        self.registry.push(other, "team/box:1")
        self.addCleanup(self.registry.push, self.layout, "team/box:1")
        self.cluster.wait_end(job)
        self.assertIn("file=inside", self.cluster.log(job))
        again = self.cluster.json("rerun", job, "--name", "pinned-again", env=self.env)["id"]
        self.cluster.wait_end(again)
        self.assertIn("file=inside", self.cluster.log(again))

    def test_four_nodes_pull_it_once_each_for_thirty_jobs(self):
        layout = self.site / "thirty"
        write_layout(layout, [self.base, self.word, layer([entry("opt/thirty", b"x" * 100_000)])])
        digest = self.registry.push(layout, "team/thirty:1")
        name = f"{self.registry.host}/team/thirty:1"
        jobs = [self.start(f"thirty-{i}", "cat /opt/image/word", name, nodes=4 if i % 10 == 0 else 1,
                           gpus=None if i % 10 == 0 else 2) for i in range(30)]
        for job in jobs:
            self.cluster.wait_end(job, seconds=120)
            self.assertIn("inside\n", self.cluster.log(job))
        pulls = self.registry.pulls(digest, "team/thirty")
        self.assertTrue(1 <= pulls <= 4, pulls)

    def test_it_writes_where_it_may_and_nothing_of_it_stays(self):
        script = ("touch /tmp/mine && echo tmp; touch $HOME/mine && echo home; touch /etc/mine || echo no-etc;"
                  f"touch {self.cluster.work}/left && echo work; grep -c . /etc/passwd; cat {self.site}/site/word")
        first = self.said_by("writes", script, self.name)
        for word in ("tmp\n", "home\n", "no-etc\n", "work\n", "2\n", "of the site\n"):
            self.assertIn(word, first)
        self.assertTrue((self.cluster.work / "left").exists())
        second = self.said_by("again", "ls /tmp /nonexistent", self.name)
        self.assertNotIn("mine", second)

    def test_folders_that_the_job_names_are_in_it(self):
        script = "cat /in/word; touch /in/new || echo read-only; touch /out/made; cat /word-file"
        log = self.said_by("mounts", script, self.name, [
            f"{self.site}/data:/in:ro", f"{self.site}/data:/out", f"{self.site}/data/word:/word-file:ro"])
        self.assertEqual(log.count("of the data\n"), 2)
        self.assertIn("read-only\n", log)
        self.assertFalse((self.site / "data" / "new").exists())
        self.assertTrue((self.site / "data" / "made").exists())

    def test_two_jobs_share_it_at_the_same_time(self):
        jobs = [self.start(f"share-{i}", "echo $$; exec sleep 600", self.name, gpus=4)
                for i in range(8)]  # two on each node
        for job in jobs:
            self.cluster.wait_running(job)
        self.cluster.ok("stop", *jobs)
        for job in jobs:
            self.cluster.wait_state(job, "stopped")

    def test_a_shell_is_in_it_as_well(self):
        job = self.start("shell", "echo $$; exec sleep 600", self.name, gpus=1)
        self.cluster.wait_running(job)
        seen = self.cluster.hai("shell", job, "--", "sh", "-c", LOOK, env=self.env)
        self.assertIn("of=yes file=inside user=nobody", seen.out, seen)
        self.cluster.ok("stop", job)

    def test_it_is_suspended_and_goes_on_in_it(self):
        job = self.start("slept", f"trap 'exit 85' USR1; {LOOK}; sleep 600 & wait", self.name, gpus=1,
                         options={"suspend": {"signal": "SIGUSR1", "grace": "20s"}})
        self.cluster.wait_running(job)
        eventually("it has begun", lambda: "file=inside" in self.cluster.hai("logs", job).out)
        self.cluster.ok("suspend", job)
        self.cluster.wait_state(job, "suspended")
        self.cluster.ok("resume", job)
        self.cluster.wait_running(job, attempt=2)
        eventually("it is in the image again", lambda: "file=inside" in self.cluster.hai(
            "logs", job, "--attempt", 2).out)
        self.cluster.ok("stop", job)

    def test_who_waits_for_an_image_can_be_suspended_and_stopped(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            name = f"127.0.0.1:{silent.getsockname()[1]}/team/box@sha256:{'a' * 64}"
            job = self.start("waits", "true", name, gpus=1)
            self.cluster.wait_job(job, "waits for its image", lambda now: now["attempt_state"] in ("placed", "starting"))
            eventually("it says so", lambda: "gets image" in self.cluster.hai("logs", job).out)
            def fetchers():
                return [line for line in self.cluster.processes().values() if "skopeo" in line]

            eventually("it is being fetched", fetchers)
            self.cluster.ok("suspend", job)
            self.cluster.wait_state(job, "suspended", "queued", seconds=20)
            self.cluster.ok("resume", job)
            eventually("it is fetched again", lambda: self.cluster.job(job)["attempt"] >= 2)
            self.cluster.ok("stop", job)
            self.cluster.wait_state(job, "stopped", seconds=20)
            eventually("nothing of it is left", lambda: not fetchers())

    def test_a_registry_that_sends_nothing_holds_up_nobody_who_names_another(self):
        layout = self.site / "held"
        write_layout(layout, [self.base, self.word, layer([entry("opt/held", b"whole\n")])])
        digest = self.registry.push(layout, "team/held:1")

        def start(name, host):
            spec = self.spec(name, "cat /opt/held", f"{host}/team/held@{digest}", gpus=1)
            spec["resource"]["nodes"] = "node-4"
            return self.cluster.run_as(ANN, spec)

        with socket.create_server(("127.0.0.1", 0)) as silent:
            holds = start("holds", f"127.0.0.1:{silent.getsockname()[1]}")
            eventually("it is being got", lambda: "gets image" in self.cluster.hai("logs", holds).out)
            gets = start("gets", self.registry.host)
            self.cluster.wait_end(gets)
            self.assertIn("whole\n", self.cluster.log(gets))
            self.assertNotIn("waits for image", self.cluster.ok("logs", gets))
            self.cluster.ok("stop", holds)
            self.cluster.wait_state(holds, "stopped", seconds=20)

    # -- other kinds

    def test_layouts_archives_and_root_folders(self):
        archive, docker = self.site / "box.tar", self.site / "docker.tar"
        for name in (f"oci-archive:{archive}:image", f"docker-archive:{docker}:team/box:1"):
            subprocess.run(["skopeo", "copy", "--quiet", f"oci:{self.layout}:image", name], check=True)
        root = self.site / "root"
        subprocess.run(["umoci", "unpack", "--image", f"{self.layout}:image", str(root)], check=True,
                       capture_output=True)
        root.chmod(0o755)
        for number, name in enumerate((f"oci:{self.layout}:image", f"oci-archive:{archive}",
                                       f"docker-archive:{docker}", f"rootfs:{root}/rootfs")):
            log = self.said_by(f"kind-{number}", "cat /opt/image/word", name)
            self.assertIn("inside\n", log, name)

    def test_what_the_user_may_not_read_is_not_read_for_him(self):
        secret = self.site / "closed" / "layout"
        shutil.copytree(self.layout, secret)
        for image in (f"oci:{secret}:image", f"rootfs:{self.site}/closed", f"oci-archive:{secret}/index.json"):
            self.assertIn("Permission denied", self.refused("secret", image))
        for image in (f"oci:{self.site}/none:image", f"docker-archive:{self.site}/none.tar", f"rootfs:{self.site}/none"):
            self.assertIn("No such file", self.refused("none", image))

    def test_nothing_leaves_for_a_job_that_could_not_be_launched(self):
        node = next(node["name"] for node in self.cluster.json("nodes") if node["scheduling"] == "open")
        low = self.cluster.spec("blocker", "/bin/sleep", "600", priority="low")
        low["resource"]["nodes"] = node
        blocker = self.cluster.run_as(ANN, low)  # root may have no jobs here
        self.cluster.wait_running(blocker)
        for image, mounts in ((f"rootfs:{self.site}/none", []), (self.name, ["/etc"])):
            high = self.spec("high", "true", image, mounts, priority="high")
            high["resource"]["nodes"] = node
            self.assertEqual(self.cluster.hai("run", "-", stdin=json.dumps(high), env=self.env).code, 4)
        attempts = self.cluster.json("describe", blocker)["attempts"]
        self.assertEqual([attempt["state"] for attempt in attempts], ["running"])
        self.cluster.hai("stop", blocker)
        self.cluster.wait_end(blocker, "stopped")

    def test_an_entrypoint_of_the_image(self):
        for program in ("/bin/cat", "cat"):
            job = self.cluster.json("exec", program, "/opt/image/word", "--", "-i", self.name, "--gpus", 1,
                                    "--mount", f"{self.site}/data:/in", env=self.env)["id"]
            self.cluster.wait_end(job)
            self.assertIn("inside\n", self.cluster.log(job))
        self.assertIn(f"does not exist in image docker://{self.name}@", self.cluster.wait_end(self.cluster.json(
            "exec", "/usr/bin/python3", "--", "-i", self.name, "--gpus", 1, env=self.env)["id"], "failed")["end_reason"])

    # -- bad input

    def test_bad_names_are_refused_before_anything_happens(self):
        for image, why in (
            (f"{self.registry.host}/team/none:1", "unknown"),
            (f"{self.registry.host}/team/box@sha256:{'c' * 64}", "manifest unknown"),
            ("127.0.0.1:1/team/box", "127.0.0.1:1 does not answer as a registry"),
            ("docker-daemon:box", "nodes read no images of the kind docker-daemon"),
            ("oci:relative", "absolute path"),
            ("box@sha256:12", "64 hexadecimal digits"),
        ):
            said = self.refused("bad", image)
            self.assertIn(why, said)
            self.assertEqual(len(said.splitlines()), 1, said)

    def test_a_registry_that_hangs_is_told_of_and_holds_up_nobody(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            host = f"127.0.0.1:{silent.getsockname()[1]}"
            job = self.cluster.file("hung.yaml", json.dumps(self.spec("hung", "true", f"{host}/team/box")))
            hung = self.cluster.start_hai("run", job, env=self.env)
            self.said_by("beside", "cat /opt/image/word", self.name)
            self.cluster.ok("list")
            out, err = hung.communicate(timeout=60)
        self.assertEqual(hung.returncode, 4, err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn(f"{host} did not answer within 10s", err)

    def test_bad_mounts_are_refused_or_fail_with_one_line(self):
        for mount, why in (("/proc:/x", "ranks have their own"), ("data", "absolute paths"), ("/a/../b", "..")):
            self.assertIn(why, self.refused("mount", self.name, [mount]))
        for mount, why in (
            ("/etc", "allows no mounts"),
            (f"{self.site}/none", "No such file"),
            (f"{self.site}/closed/deep:/x", "Permission denied"),
        ):
            said = self.refused("mount", self.name, [mount])
            self.assertIn(why, said)
            self.assertEqual(len(said.splitlines()), 1, said)
        link = self.site / "data" / "link"
        link.symlink_to("/etc")
        self.assertIn("allows no mounts", self.refused("mount", self.name, [f"{link}:/x"]))
        inner = [f"{self.site}/data:/x", f"{self.site}/site:/x/planted"]
        self.assertIn("no such place", self.fails("mount-inner", self.name, inner))
        self.assertFalse((self.site / "data" / "planted").exists())

    def test_mounts_of_a_job_without_an_image_are_refused(self):
        spec = self.cluster.spec("plain", "x.sh")
        spec["resource"]["mounts"] = ["/data"]
        self.assertIn("for jobs with resource.image", self.cluster.hai("run", "-", stdin=json.dumps(spec)).err)

    def test_a_registry_that_sends_nothing_is_given_up(self):
        job = self.start_slow("stalls")

        def reason():
            return self.cluster.job(job).get("end_reason") or ""

        stalled = rf"image docker://\S+: nothing came from {self.slow.host} for 15s after [1-9]\.\d of [67]\.\d MB"
        eventually("it says so", lambda: "nothing came from" in reason(), seconds=90)
        self.assertRegex(reason(), stalled)
        ended = self.cluster.wait_end(job, "failed", seconds=180)
        self.assertEqual((ended["attempt"], ended["requeue_count"], ended["exit_code"]), (3, 2, 1))
        self.assertRegex(ended["end_reason"], rf"^rank 0 on node-\d could not start: {stalled} \(could not start 3 times\)$")
        self.assertNotIn("pulling", self.status(job))

    def start_slow(self, name):
        """A job whose image comes to the half, and on when the gate of the registry is set."""
        self.slow.gate.clear()
        layout = self.site / name
        write_layout(layout, [self.base, self.word, layer([entry("opt/large", os.urandom(6_000_000))])])
        self.registry.push(layout, f"team/{name}:1")
        return self.start(name, "cat /opt/image/word", f"{self.slow.host}/team/{name}:1", gpus=1)

    def status(self, job):
        return self.cluster.hai("status", job, env=self.env).out

    def test_status_says_how_far_a_pull_is(self):
        job = self.start_slow("large")
        line = re.compile(r"^pulling docker://\S+/team/large:1@\S+ on node-\d: [1-9]\.\d of [67]\.\d MB, since \d+s$", re.M)
        eventually("status says it", lambda: line.search(self.status(job)))
        self.slow.gate.set()
        self.cluster.wait_end(job)
        self.assertIn("inside\n", self.cluster.log(job))

    # -- hostile images

    def test_a_layer_that_is_not_what_it_says(self):
        layout = self.site / "spoiled"
        write_layout(layout, [self.base, self.word], spoil=True)
        self.assertRegex(self.fails("spoiled", f"oci:{layout}:image"), "Digest did not match")

    def test_layers_that_reach_out_change_nothing(self):
        mark = pathlib.Path("/var/tmp") / f"hai-evil-{os.getpid()}"
        up = "../" * 12
        layout = self.site / "evil"
        write_layout(layout, [self.base, layer([
            entry(f"{up}{str(mark)[1:]}", b"evil\n"),
            entry("out", kind=tarfile.SYMTYPE, link="/var/tmp"),
            entry(f"out/{mark.name}", b"evil\n"),
        ])])
        self.assertIn("evil\n", self.said_by("evil", f"cat {mark}", f"oci:{layout}:image"), "it is in the image")
        self.assertFalse(mark.exists())
        # A name of its own for a file of the node: there is none of that name in the image.
        layout = self.site / "hard"
        write_layout(layout, [self.base, layer([entry("hard", kind=tarfile.LNKTYPE, link=f"{up}etc/shadow")])])
        self.assertIn("no such file", self.fails("hard", f"oci:{layout}:image"))

    def test_devices_and_set_uid_programs_of_an_image_are_nothing(self):
        layout = self.site / "devices"
        write_layout(layout, [self.base, layer([
            entry("dev-mem", kind=tarfile.CHRTYPE, device=(1, 1), mode=0o666),
            entry("dev-null", kind=tarfile.CHRTYPE, device=(1, 3), mode=0o666),
            entry("bin/busybox.suid", pathlib.Path(shutil.which("busybox")).read_bytes(), 0o4755),
            entry("etc/passwd", kind=tarfile.FIFOTYPE),
        ])])
        log = self.said_by("devices", "echo x >/dev-null || echo no-device; /bin/busybox.suid grep Uid: /proc/self/status",
                           f"oci:{layout}:image")
        self.assertIn("no-device", log)
        self.assertIn("Uid:\t" + "\t".join([str(pwd.getpwnam(ANN).pw_uid)] * 4), log)
        # Nobody reaches the file from outside either.
        kept = [rootfs.parent for rootfs in self.cluster.data.glob("**/images/*/rootfs")]
        self.assertTrue(kept)
        for image in kept:
            self.assertEqual(image.stat().st_mode & 0o777, 0o700, image)

    def test_a_link_in_the_image_leads_nowhere_outside(self):
        layout = self.site / "links"
        write_layout(layout, [self.base, layer([
            entry("tmp", kind=tarfile.SYMTYPE, link="/opt"),
            entry("data", kind=tarfile.SYMTYPE, link="../../../../etc"),
        ])])
        before = sorted(os.listdir("/etc"))
        log = self.said_by("links", "cat /data/word && readlink /data", f"oci:{layout}:image",
                           [f"{self.site}/data:/data/in", f"{self.site}/data/word:/data/word"])
        self.assertIn("of the data", log)
        self.assertEqual(sorted(os.listdir("/etc")), before)

    # -- what is kept

    def test_what_nodes_keep_is_listed_and_got_ahead_and_removed(self):
        layout = self.site / "ahead"
        write_layout(layout, [self.base, self.word, layer([entry("opt/ahead", b"ahead")])])
        digest = self.registry.push(layout, "team/ahead:1")
        name = f"{self.registry.host}/team/ahead:1"
        said = self.cluster.ok("images", "pull", name, "--nodes", "node-[1-3]").splitlines()
        for node in NODES[:3]:
            self.assertTrue(any(line.startswith(f"{node}: has image docker://{name}@{digest}") for line in said), said)
        self.assertEqual(self.cluster.ok("images", "pull", name, "--nodes", "node-1"), "node-1: has it already\n")
        kept = [each for each in self.cluster.json("images", env=self.env) if each["digest"] == digest]
        self.assertEqual([each["node"] for each in kept], list(NODES[:3]))
        self.assertEqual({each["name"] for each in kept}, {f"docker://{name}@{digest}"})
        self.assertTrue(all(each["bytes"] > 1_000_000 and each["used_at_us"] > 0 for each in kept), kept)
        self.assertRegex(self.cluster.ok("images"), rf"node-1 +{re.escape(name)} +{digest[:19]} ")
        self.assertEqual(self.registry.pulls(digest, "team/ahead"), 3)
        job = self.start("ahead", "cat /opt/ahead", name, nodes=1, gpus=1)
        self.cluster.wait_end(job)
        self.assertIn("ahead", self.cluster.log(job))
        self.assertLessEqual(self.registry.pulls(digest, "team/ahead"), 4)

        def is_gone():
            self.cluster.ok("images", "prune", "--nodes", "node-1,node-2")
            return not self.cluster.json("images", "--nodes", "node-[1-2]")

        eventually("what nobody uses goes", is_gone)
        self.assertTrue(self.cluster.json("images", "--nodes", "node-3"))

    def test_who_may_not_and_what_is_not_is_said_in_one_line(self):
        for words, env, code, why in (
            (("pull", self.name), self.env, 4, "only operators may pull images of nodes"),
            (("prune",), self.env, 4, "only operators may prune images of nodes"),
            (("pull", f"{self.registry.host}/team/none:1"), None, 3, "unknown"),
            (("pull", f"rootfs:{self.site}"), None, 2, "only those of registries"),
        ):
            result = self.cluster.hai("images", *words, env=env)
            self.assertEqual((result.code, len(result.err.splitlines())), (code, 1), result)
            self.assertIn(why, result.err)

    def test_what_nobody_uses_goes_and_what_runs_stays(self):
        job = self.start("keeps", "echo $$; exec sleep 600", self.name, gpus=1)
        node = self.cluster.wait_running(job)["nodes"]
        node = node[0] if isinstance(node, list) else node
        store = next(self.cluster.data.glob(f"**/{node}/**/images"))
        image = programs() / "hai-image"
        listed = subprocess.run([image, "list", "--store", store], capture_output=True, text=True, check=True)
        self.assertIn(self.digest, listed.stdout)
        subprocess.run([image, "prune", "--store", store], check=True, capture_output=True)
        listed = subprocess.run([image, "list", "--store", store], capture_output=True, text=True, check=True)
        self.assertIn(self.digest, listed.stdout)
        self.assertEqual(len(listed.stdout.splitlines()), 1, listed.stdout)
        self.cluster.ok("stop", job)
        self.cluster.wait_state(job, "stopped")

        def is_gone():
            subprocess.run([image, "prune", "--store", store], check=True, capture_output=True)
            return not subprocess.run([image, "list", "--store", store], capture_output=True, text=True).stdout

        eventually("the image goes when no rank uses it", is_gone)


if __name__ == "__main__":
    unittest.main()
