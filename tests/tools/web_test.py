"""The page that ./run web makes, walked through in a headless Chromium. Skipped where there is no Chromium, or the
page was not made."""

import gzip
import json
import os
import pathlib
import sys
import time
import unittest

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = pathlib.Path(os.environ.get("TRAINSCOPE_PAGE", ROOT / "build-web" / "web"))
KEPT = "/home/web_user/.config/trainscope"
READY = "document.getElementById('cover')?.hidden"
COUNT = """
const before = requestAnimationFrame;
globalThis.drawn = 0;
for (const kind of [WebGL2RenderingContext]) {
  const clear = kind.prototype.clear;
  kind.prototype.clear = function (...all) { globalThis.drawn++; return clear.apply(this, all); };
}
"""
TRACE = {
    "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 0, "dur": 50, "args": {}},
        {"ph": "X", "cat": "kernel", "name": "add_kernel", "pid": 0, "tid": 7, "ts": 60, "dur": 20,
         "args": {"device": 0, "stream": 7, "correlation": 1}},
    ]
}  # fmt: skip


class Page(unittest.TestCase):
    def setUp(self):
        self.server = browser.Server(PAGE)
        self.addCleanup(self.server.close)
        self.browser = browser.Browser()
        self.addCleanup(self.browser.close)

    def open(self, asks=""):
        self.browser.open(self.server.address + asks)
        self.browser.wait_for(READY, 120)

    def kept(self, file):
        """The text of a file that the page keeps; empty where there is none."""
        path = json.dumps(f"{KEPT}/{file}")
        return self.browser.value(
            f"Module.FS.analyzePath({path}).exists ? Module.FS.readFile({path}, {{encoding: 'utf8'}}) : ''"
        )

    def wait_for_link(self, *parts):
        """What is open, once its link has all these parts."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            link = self.kept("open.txt")
            if all(part in link for part in parts):
                return link
            time.sleep(0.1)
        self.fail(f"{parts} did not come; what is open is {link!r}")

    def press(self, *keys):
        for key in keys:
            self.browser.key(*key) if isinstance(key, tuple) else self.browser.key(key)
            time.sleep(0.3)

    def test_the_address_says_which_lesson_and_step_are_open(self):
        self.open("?lesson=pinned-vs-pageable&step=2")
        self.wait_for_link("lesson=pinned-vs-pageable", "step=2")

    def test_a_lesson_that_there_is_not_is_said_in_the_window(self):
        self.open("?lesson=no-such-lesson")
        self.assertEqual(self.kept("open.txt"), "")

    def test_answers_are_there_again_when_the_page_is_loaded_again(self):
        self.open("?lesson=pinned-vs-pageable&step=2")
        self.press("3", ("Enter", 13, "Control"))
        self.browser.wait_for(f"Module.FS.analyzePath('{KEPT}/answers').exists")
        time.sleep(1)
        self.open()
        answers = json.loads(self.kept("answers/pinned-vs-pageable.json"))
        self.assertEqual(answers["lesson"], "pinned-vs-pageable")
        self.wait_for_link("lesson=pinned-vs-pageable")

    def test_it_draws_nothing_while_nothing_changes(self):
        self.browser.call("Page.addScriptToEvaluateOnNewDocument", source=COUNT)
        self.open("?lesson=pinned-vs-pageable")
        time.sleep(5)
        before = self.browser.value("drawn")
        time.sleep(3)
        self.assertGreater(before, 0)
        self.assertLessEqual(self.browser.value("drawn") - before, 1)

    def test_a_trace_is_opened_from_a_chosen_file(self):
        self.open("?lesson=pinned-vs-pageable")
        file = self.browser.downloads.parent / "two.json.gz"
        file.write_bytes(gzip.compress(json.dumps(TRACE).encode()))
        self.press(("o", None, "Control"))
        self.browser.choose_files("#chooser", [file])
        end = time.monotonic() + 30
        while "two.json.gz" not in self.kept("recent.txt") and time.monotonic() < end:
            time.sleep(0.2)
        self.assertIn("two.json.gz", self.kept("recent.txt"))

    def test_a_picture_becomes_a_download(self):
        self.open("?lesson=pinned-vs-pageable")
        self.press(("s", None, "Control"), ("Enter", 13))
        files = self.browser.downloaded()
        self.assertEqual([file.name for file in files], ["trainscope.png"])
        self.assertEqual(files[0].read_bytes()[:4], b"\x89PNG")


if __name__ == "__main__":
    if not browser.chromium() or not (PAGE / "trainscope.wasm").exists():
        print("skipped: there is no Chromium, or no page (./run web makes it)")
        sys.exit(77)
    unittest.main()
