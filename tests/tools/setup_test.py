"""What ./run and its tools say and return when a machine lacks something."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A machine where only bash and git are installed, and apt-get works after an update.
DPKG = r"printf 'ii \tbash\nii \tgit:amd64\nrc \tcmake\n'"
APT = 'echo "$*" >>"$CALLS"; case "$*" in *update*) touch "$CALLS.new" ;; *) [ -e "$CALLS.new" ] ;; esac'


class SetUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = self.folder / "calls"

    def fake(self, **commands):
        (self.folder / "bin").mkdir(exist_ok=True)
        for name, body in commands.items():
            file = self.folder / "bin" / name.replace("_", "-")
            file.write_text(f"#!/bin/sh\n{body}\n")
            file.chmod(0o755)

    def run_tool(self, tool, *arguments):
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(self.folder),
            "CALLS": str(self.calls),
        }
        return subprocess.run(
            [ROOT / tool, *arguments], env=environment, capture_output=True, text=True, check=False
        )

    def test_an_unknown_preset_is_refused(self):
        result = self.run_tool("run", "test", "--preset", "msan")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, 'There is no preset "msan": write release, asan or tsan.\n')

    def test_nothing_is_said_when_the_packages_are_there(self):
        self.fake(dpkg_query=DPKG, apt_get="exit 1")
        result = self.run_tool("tools/install-packages", "bash", "git")
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    def test_without_root_the_missing_packages_are_named(self):
        self.fake(dpkg_query=DPKG, id="echo 1000", sudo="exit 1")
        result = self.run_tool("tools/install-packages", "bash", "cmake", "xvfb")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertIn("apt-get install cmake xvfb", result.stderr)

    def test_the_package_lists_are_fetched_only_when_an_install_fails(self):
        self.fake(dpkg_query=DPKG, id="echo 0", apt_get=APT)
        result = self.run_tool("tools/install-packages", "cmake")
        self.assertEqual(result.returncode, 0, result.stderr)
        steps = [next(w for w in call.split() if w in ("install", "update")) for call in
                 self.calls.read_text().splitlines()]
        self.assertEqual(steps, ["install", "update", "install"])

    def test_a_package_that_cannot_be_installed_is_named(self):
        self.fake(dpkg_query=DPKG, id="echo 0", apt_get="exit 100")
        result = self.run_tool("tools/install-packages", "cmake")
        self.assertEqual(result.returncode, 3)
        self.assertIn("could not be installed", result.stderr)

    def test_ui_sources_that_are_not_the_pinned_ones_are_refused(self):
        cache = self.folder / "trainscope"
        cache.mkdir()
        pinned = (ROOT / "cmake" / "third_party_ui.cmake").read_text()
        version = pinned.split("TRAINSCOPE_UI_SOURCES_VERSION ")[1].split(")")[0]
        (cache / f"imgui_bundle-{version}.tar.gz").write_bytes(b"something else")
        result = self.run_tool("tools/fetch-ui-sources")
        self.assertEqual(result.returncode, 3)
        self.assertIn("sha256 differs", result.stderr)
        self.assertEqual([file.name for file in cache.iterdir()], ["fetch.lock"])


if __name__ == "__main__":
    unittest.main()
