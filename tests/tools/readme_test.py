"""Each header of a folder that has a README is named there, and what a README names is there."""
import fnmatch
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENDINGS = (".h", ".cuh", ".cpp", ".cu", ".md", ".py")


def words_of(readme):
    """What stands in backticks, and in its pictures: names of files, some with a star."""
    text, words = readme.read_text(), set()
    for i, part in enumerate(text.split("```")):
        words.update(re.findall(r"[\w./*-]+" if i % 2 else r"`([^`\s]+)`", part))
    return {word for word in words if re.search(r"\w\w", word)}


def names(word, header):
    stem = word
    for ending in ENDINGS:
        stem = stem.removesuffix(ending)
    stem = stem.removesuffix(".*")
    return fnmatch.fnmatch(header.stem, stem.rsplit("/", 1)[-1])


class Readmes(unittest.TestCase):
    maxDiff = None

    def test_every_header_is_named(self):
        missing = []
        for readme in sorted([*ROOT.glob("src/*/README.md"), ROOT / "ui/app/README.md"]):
            words = words_of(readme)
            for header in sorted(readme.parent.rglob("*.h")):
                inside = header.relative_to(readme.parent).parent
                by_folder = any(f"{folder}/" in words for folder in (inside, *inside.parents))
                if not by_folder and not any(names(word, header) for word in words):
                    missing.append(f"{readme.relative_to(ROOT)}: {header.name}")
        self.assertEqual(missing, [])

    def test_every_link_leads_somewhere(self):
        dead = []
        for readme in sorted(ROOT.rglob("*.md")):
            if any(part.startswith(("build", ".")) for part in readme.relative_to(ROOT).parts):
                continue
            for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", readme.read_text()):
                if "://" not in link and not (readme.parent / link).exists():
                    dead.append(f"{readme.relative_to(ROOT)}: {link}")
        self.assertEqual(dead, [])


if __name__ == "__main__":
    unittest.main()
