"""`hai run` checks out what spec.git_remote_repo of HAI's job files names."""

import subprocess
import unittest

from cluster import ClusterTest, said


class GitTest(ClusterTest):
    shape = {"name": "git", "nodes": 1}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.repository = cls.cluster.work / "llm.git"
        cls.git("init", "--quiet", "--initial-branch=main", cls.repository)
        cls.first = cls.commit("one")
        cls.git("-C", cls.repository, "tag", "-a", "v1", "-m", "the first")
        cls.second = cls.commit("two")

    @classmethod
    def git(cls, *words):
        author = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
        done = subprocess.run(["git", *author, *map(str, words)], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    @classmethod
    def commit(cls, word):
        (cls.repository / "say.sh").write_text(f"echo {word} $MARSV2_GIT_COMMIT_SHA in $PWD\n")
        cls.git("-C", cls.repository, "add", ".")
        cls.git("-C", cls.repository, "commit", "--quiet", "-m", word)
        return cls.git("-C", cls.repository, "rev-parse", "HEAD")

    def run_job(self, keys, *options):
        job = self.cluster.file(
            "git.yaml",
            f"version: 2\nname: git\nspec:\n  entrypoint: say.sh\n  {keys}\n"
            "resource: {node_count: 1, gpus_per_node: 1}\n",
        )
        return self.cluster.hai("run", job, *options)

    def checked_out(self):
        kept = self.cluster.root / "home" / ".hai" / "repositories"
        return sorted(path.name for path in kept.iterdir()) if kept.exists() else []

    def test_a_revision_is_the_workspace(self):
        source = f"git_remote_repo: {self.repository}\n  git_target_revision: "
        folder = self.cluster.root / "home" / ".hai" / "repositories"
        dry = self.run_job(source + "main", "--dry-run")
        self.assertEqual((dry.code, self.checked_out()), (0, []), dry)
        self.assertIn(f"MARSV2_GIT_COMMIT_SHA: {self.second}", dry.out.replace('"', ""))
        for revision, word, commit in (
            ("v1", "one", self.first),  # a tag that is an object of its own
            ("main", "two", self.second),
            (self.first, "one", self.first),
        ):
            done = self.run_job(source + revision, "-f")
            name = f"llm-{commit[:12]}"
            self.assertEqual((done.code, said(done.out)), (0, f"{word} {commit} in {folder / name}\n"), done)
        self.assertEqual(
            self.checked_out(), sorted({f"llm-{self.first[:12]}", f"llm-{self.second[:12]}"})
        )
        again = self.run_job(source + "v1", "-f")
        self.assertNotIn("checking out", again.err, "it is there")
        # Without a revision: what the repository begins with.
        done = self.run_job(f"git_remote_repo: {self.repository}", "-f")
        self.assertTrue(said(done.out).startswith(f"two {self.second}"), done)

    def test_what_cannot_be_checked_out_runs_nothing(self):
        before = len(self.cluster.json("list", "-a"))
        for keys, code, why in (
            (
                f"git_remote_repo: {self.repository}\n  git_target_revision: absent",
                3,
                rf"git.yaml: line 6: spec.git_target_revision: {self.repository} has no branch or tag absent",
            ),
            ("git_remote_repo: /nowhere/llm.git", 4, "line 5: spec.git_remote_repo: git ls-remote failed"),
            (
                f"git_remote_repo: {self.repository}\n  workspace: /tmp",
                2,
                "line 5: spec.git_remote_repo: goes without spec.workspace",
            ),
            (
                f"git_remote_repo: {self.repository}\n  git_target_revision: --upload-pack=x",
                2,
                "line 6: spec.git_target_revision: is no branch, tag or commit",
            ),
        ):
            refused = self.run_job(keys)
            self.assertEqual((refused.code, refused.out), (code, ""), refused)
            self.assertRegex(refused.err, why)
        self.assertEqual(len(self.cluster.json("list", "-a")), before)


if __name__ == "__main__":
    unittest.main()
