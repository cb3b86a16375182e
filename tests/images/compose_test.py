"""deploy/images/compose.yaml: what it names is there, and what it tells the server's container is what that reads."""

import pathlib
import re
import unittest

import yaml

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "images"


def read_by(entrypoint):
    """The variables that an entrypoint's head explains."""
    head = (FOLDER / entrypoint).read_text().split("set -eu")[0]
    return set(re.findall(r"\bHAI_[A-Z_]+", head))


class ComposeTest(unittest.TestCase):
    def setUp(self):
        self.file = yaml.safe_load((FOLDER / "compose.yaml").read_text())
        self.services = self.file["services"]

    def test_every_service_has_an_image_and_comes_back(self):
        self.assertEqual(set(self.services), {"database", "server"})
        for name, service in self.services.items():
            self.assertRegex(service["image"], r"\A\S+/\S+:\S+\Z", name)
            self.assertEqual(service["restart"], "unless-stopped", name)
        self.assertEqual(list(self.services["server"]["depends_on"]), ["database"])

    def test_volumes_and_secrets_are_those_that_are_used(self):
        for kind, used in (
            ("volumes", {volume.split(":")[0] for one in self.services.values() for volume in one["volumes"]}),
            ("secrets", {secret for one in self.services.values() for secret in one["secrets"]}),
        ):
            self.assertEqual(set(self.file[kind]), used, kind)

    def test_what_the_images_keep_is_in_volumes(self):
        stage = (FOLDER / "Containerfile").read_text().split("AS server")[1].split("FROM")[0]
        kept = set(re.findall(r'"(/[^"]+)"', re.search(r"VOLUME (\[.*\])", stage).group(1)))
        self.assertEqual({volume.split(":")[1] for volume in self.services["server"]["volumes"]}, kept)

    def test_the_server_is_told_what_it_reads(self):
        told = set(self.services["server"]["environment"])
        self.assertLessEqual(told, read_by("server-entrypoint"))
        self.assertIn("HAI_NAMES", told)

    def test_documentation_has_each_variable(self):
        text = (FOLDER.parents[1] / "docs" / "operations" / "containers.md").read_text()
        for entrypoint in ("server-entrypoint", "agent-entrypoint"):
            for name in read_by(entrypoint):
                self.assertIn(name, text, entrypoint)


if __name__ == "__main__":
    unittest.main()
