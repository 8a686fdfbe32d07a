"""How many sheets of paper a lesson takes, as a headless Chromium prints it. Skipped where there is none."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TRAINSCOPE_BUILD", ROOT / "build"))
LESSONS = ("pinned-vs-pageable", "time-it-right", "num-workers", "keep-it-fed")
PAGE = re.compile(rb"/Type\s*/Page\b(?!s)")


class Handout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sheets(self, lesson, answers):
        page, paper = self.folder / "h.html", self.folder / "h.pdf"
        subprocess.run([BUILD / "trainscope", "handout", lesson, answers, "--out", page], check=True,
                       stderr=subprocess.DEVNULL)  # fmt: skip
        subprocess.run(
            [browser.chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
             f"--user-data-dir={self.folder / 'profile'}", f"--print-to-pdf={paper}", page.as_uri()],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120,
        )  # fmt: skip
        return len(PAGE.findall(paper.read_bytes()))

    def test_a_sheet_to_work_on_takes_two_pages(self):
        for lesson in LESSONS:
            with self.subTest(lesson=lesson):
                self.assertEqual(self.sheets(lesson, "--no-answers"), 2)

    def test_with_answers_it_takes_four_at_most(self):
        for lesson in LESSONS:
            with self.subTest(lesson=lesson):
                self.assertIn(self.sheets(lesson, "--answers"), (3, 4))


if __name__ == "__main__":
    if not browser.chromium() or not (BUILD / "trainscope").exists():
        print("skipped: there is no Chromium, or no program")
        sys.exit(77)
    unittest.main()
