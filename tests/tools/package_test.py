"""An installed Trainscope: what is in it, and that it works from its own files alone."""

import configparser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SOURCES = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TRAINSCOPE_BUILD", "no build folder"))
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


class Installed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name).resolve() / "in a place"
        command = ["cmake", "--install", BUILD, "--prefix", self.prefix]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.share = self.prefix / "share" / "trainscope"

    def trainscope(self, *arguments):
        here = {key: value for key, value in os.environ.items()
                if key not in ("TRAINSCOPE_HOME", "DISPLAY", "WAYLAND_DISPLAY")}
        return subprocess.run([self.prefix / "bin" / "trainscope", *arguments], cwd="/", env=here,
                              capture_output=True, text=True, check=False)

    def doctor(self, what):
        result = self.trainscope("doctor", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        entries = json.loads(result.stdout)
        while isinstance(entries, dict):
            entries = next(value for value in entries.values() if isinstance(value, (dict, list)))
        return next(entry for entry in entries if what in entry.values())

    def names(self, *parts):
        return sorted(path.name for path in self.prefix.joinpath(*parts).iterdir())

    def make_a_source_tree_around_it(self):
        (self.prefix / "assets" / "machines").mkdir(parents=True)
        (self.prefix / "scenarios").mkdir()

    def test_it_takes_its_own_files_even_within_a_source_tree(self):
        self.make_a_source_tree_around_it()
        self.assertIn(f"machines in {self.share}", str(self.doctor("lessons and machines")))

    def test_without_its_own_files_it_takes_no_others(self):
        self.make_a_source_tree_around_it()
        shutil.rmtree(self.share)
        result = self.trainscope("lessons")
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn(f"{self.share} does not hold the folders assets and scenarios", result.stderr)

    def test_the_plug_in_is_looked_for_among_its_libraries(self):
        plugin = self.prefix / "lib" / "trainscope" / "libtrainscope_cuda.so"
        plugin.unlink(missing_ok=True)
        self.assertIn(f"{plugin}, is not installed", str(self.doctor("executor cuda")))

    def test_a_plug_in_of_another_version_is_to_be_packed_anew(self):
        plugin = self.prefix / "lib" / "trainscope" / "libtrainscope_cuda.so"
        shutil.copy(next(plugin.parent.glob("libfmt*")), plugin)
        said = str(self.doctor("executor cuda"))
        self.assertIn(f"{plugin}, is of another version of Trainscope", said)
        self.assertIn("`./run package` packs it", said)
        self.assertNotIn("ninja", said)

    def test_libraries_of_which_each_distribution_has_its_own_go_along(self):
        found = subprocess.run(["ldd", self.prefix / "bin" / "trainscope"], capture_output=True, text=True,
                               check=True).stdout
        for name in ("libfmt", "libsimdjson", "libtomlplusplus", "libgfortran"):
            line = next(line for line in found.splitlines() if line.strip().startswith(name))
            place = pathlib.Path(line.split(" => ")[1].rsplit(" (", 1)[0])
            self.assertEqual(place.resolve().parent, self.prefix / "lib" / "trainscope")

    def test_nothing_else_is_installed(self):
        self.assertEqual(self.names(), ["bin", "lib", "share"])
        self.assertEqual(self.names("bin"), ["trainscope"])
        self.assertEqual(self.names("lib"), ["trainscope"])
        self.assertEqual(self.names("share"), ["applications", "doc", "icons", "mime", "trainscope"])
        self.assertNotIn("pictures", self.names("share", "trainscope", "assets"))
        self.assertEqual(self.names("share", "doc"), ["trainscope"])

    def test_the_window_has_its_typefaces_and_all_their_licences(self):
        if not (BUILD / "fonts").is_dir():
            self.skipTest("this program was built without its window")
        self.assertIn("Roboto-Regular.ttf", self.names("share", "trainscope", "fonts"))
        licences = self.prefix / "share" / "doc" / "trainscope" / "licences"
        for name in ("imgui", "implot", "imgui_test_engine", "glfw", "imgui_md", "md4c",
                     "ImGuiColorTextEdit", "imgui-command-palette", "Roboto"):
            self.assertIn("opyright", (licences / f"{name}.txt").read_text(encoding="utf-8"), name)

    def test_a_desktop_hands_over_links_and_files(self):
        entry = configparser.ConfigParser(interpolation=None, delimiters="=")
        entry.optionxform = str
        entry.read(self.prefix / "share" / "applications" / "trainscope.desktop")
        self.assertEqual(entry["Desktop Entry"]["Exec"], "trainscope %U")
        kinds = entry["Desktop Entry"]["MimeType"].split(";")
        self.assertIn("x-scheme-handler/trainscope", kinds)
        mime = xml.etree.ElementTree.parse(self.prefix / "share" / "mime" / "packages" / "trainscope.xml")
        self.assertIn(mime.find(f"{MIME}mime-type").get("type"), kinds)
        begins = mime.find(f"{MIME}mime-type/{MIME}magic/{MIME}match").get("value")

        saved = self.prefix / "my run.tsrun"
        result = self.trainscope("run", "--set", "workload=copy", "--save", saved)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(saved.read_bytes().startswith(begins.encode().decode("unicode_escape").encode("latin-1")))
        # What is understood fails only for want of a display.
        self.assertEqual(self.trainscope(saved.as_uri()).returncode, 3)
        self.assertEqual(self.trainscope("trainscope:1?lesson=pinned-vs-pageable&step=2").returncode, 3)
        self.assertEqual(self.trainscope(saved.as_uri() + "x").returncode, 2)


class LicencesOfOthers(unittest.TestCase):
    """Of the libraries that the archive carries."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(licences NONE)\nset(our_licences doc)\n"
            f'include("{SOURCES}/cmake/package/licences.cmake")\n', encoding="utf-8")
        for name in ("libopenblas0-pthread", "libgfortran5", "libfreetype6", "libpng16-16t64", "libbrotli1"):
            (self.folder / "documents" / name).mkdir(parents=True)
            (self.folder / "documents" / name / "copyright").write_text(name, encoding="utf-8")

    def install(self, *arguments):
        made = self.folder / "made"
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.folder, "-B", made,
                        f"-DTRAINSCOPE_DOCUMENTS={self.folder}/documents"], capture_output=True, check=True)
        return subprocess.run(["cmake", "--install", made, "--prefix", self.folder / "put", *arguments],
                              capture_output=True, text=True, check=False)

    def test_go_along_also_where_a_package_has_a_newer_name(self):
        result = self.install("--component", "carried")
        self.assertEqual(result.returncode, 0, result.stderr)
        put = self.folder / "put" / "doc" / "licences"
        self.assertEqual(sorted(path.name for path in put.iterdir()), [
            "libbrotli1.txt", "libfreetype6.txt", "libgfortran5.txt", "libopenblas0-pthread.txt", "libpng16-16.txt"])

    def test_are_not_silently_left_out_of_what_is_packed(self):
        shutil.rmtree(self.folder / "documents" / "libgfortran5")
        result = self.install("--component", "carried")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("The archive carries libgfortran5, whose licence is not here", " ".join(result.stderr.split()))
        self.assertEqual(self.install().returncode, 0)


if __name__ == "__main__":
    if not (BUILD / "trainscope").exists():
        print("skipped: TRAINSCOPE_BUILD names no folder with a program built")
        sys.exit(77)
    unittest.main()
