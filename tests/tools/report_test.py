"""What a report in HTML shows when it is open: in a headless Chromium. Skipped where there is none."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TRAINSCOPE_BUILD", ROOT / "build"))


class Report(unittest.TestCase):
    def open(self, *arguments):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        page = pathlib.Path(folder.name) / "report.html"
        subprocess.run([BUILD / "trainscope", "run", *arguments, "--html", page], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        opened = browser.Browser()
        self.addCleanup(opened.close)
        opened.open(page.as_uri())
        opened.wait_for("document.querySelectorAll('.lane-name').length > 0")
        return opened

    def scales(self, page, lane):
        return page.value(
            "[...document.querySelectorAll('.lane-name')].filter(e => e.querySelector('.scale') &&"
            f" e.firstChild.textContent.includes({lane!r})).map(e => e.querySelector('.scale').textContent)"
        )

    def test_counters_of_two_sides_have_one_scale_which_is_said(self):
        page = self.open("memory-anatomy")
        a, b = self.scales(page, "allocated memory")
        self.assertRegex(a, r"^[\d.]+ MiB, scale to [\d.]+ GiB$")
        self.assertEqual(a.split(" scale to ")[1], b)

    def test_a_share_is_of_a_hundred(self):
        page = self.open("buckets-and-overlap")
        shares = self.scales(page, "%")
        self.assertTrue(shares)
        for share in shares:
            self.assertRegex(share, r"^[\d.]+ of 100$|^100$")


if __name__ == "__main__":
    if not browser.chromium() or not (BUILD / "trainscope").exists():
        print("skipped: there is no Chromium, or no program")
        sys.exit(77)
    unittest.main()
