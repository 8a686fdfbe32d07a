"""What ./run package --windows packs: by the rules of cmake/package, with a program that stands in for the real one."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest
import zipfile

SOURCES = pathlib.Path(__file__).resolve().parents[2]
WITH_LICENCE = ("zlib1g-dev", "libfreetype-dev", "libeigen3-dev", "gcc-mingw-w64-base", "mingw-w64-x86-64-dev")
NAME = "trainscope-1.2.3-windows-x86_64"
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(trainscope VERSION 1.2.3 LANGUAGES C)
set(WIN32 TRUE)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_EXECUTABLE_SUFFIX .exe)
macro(enable_language)
endmacro()
file(WRITE ${{CMAKE_BINARY_DIR}}/main.c "int main(void) {{ return 0; }}")
add_executable(trainscope ${{CMAKE_BINARY_DIR}}/main.c)
set(CMAKE_SOURCE_DIR {SOURCES})
include({SOURCES}/cmake/package/install.cmake)
include({SOURCES}/cmake/package/package.cmake)
"""


def files_below(folder):
    return {path.relative_to(folder.parent).as_posix() for path in folder.rglob("*") if path.is_file()}


class Zip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        documents = cls.folder / "documents"
        for package in WITH_LICENCE:
            (documents / package).mkdir(parents=True)
            (documents / package / "copyright").write_text(package, encoding="utf-8")
        (cls.folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        made = cls.folder / "made"
        for command in (["cmake", "-G", "Ninja", "-S", cls.folder, "-B", made, f"-DTRAINSCOPE_DOCUMENTS={documents}"],
                        ["cmake", "--build", made],
                        ["cpack", "--config", made / "CPackConfig.cmake", "-B", cls.folder / "packed"]):
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            assert result.returncode == 0, result.stdout + result.stderr
        cls.made = made
        with zipfile.ZipFile(cls.folder / "packed" / f"{NAME}.zip") as archive:
            cls.names = {name for name in archive.namelist() if not name.endswith("/")}

    def test_all_is_in_one_folder_and_beside_the_program(self):
        self.assertEqual({name.split("/")[0] for name in self.names}, {NAME})
        self.assertEqual({name.split("/")[1] for name in self.names},
                         {"trainscope.exe", "assets", "scenarios", "licence.txt", "licences"})

    def test_lessons_and_machines_are_those_of_the_sources(self):
        ours = {name.removeprefix(f"{NAME}/") for name in self.names}
        wanted = files_below(SOURCES / "scenarios") | files_below(SOURCES / "assets")
        wanted = {name for name in wanted if not name.startswith("assets/pictures/")}
        self.assertEqual({name for name in ours if name.startswith(("assets/", "scenarios/"))}, wanted)

    def test_what_is_compiled_into_it_has_its_licence(self):
        for package in WITH_LICENCE:
            self.assertIn(f"{NAME}/licences/{package}.txt", self.names)

    def test_windows_is_told_its_version_and_that_it_knows_screens_and_utf_8(self):
        resources = (self.made / "trainscope.rc").read_text(encoding="utf-8")
        self.assertIn("FILEVERSION 1,2,3,0", resources)
        self.assertTrue((SOURCES / "cmake/package/windows/trainscope.ico").read_bytes().startswith(b"\0\0\1\0"))
        manifest = (self.made / "trainscope.manifest").read_text(encoding="utf-8")
        self.assertIn('version="1.2.3.0"', manifest)
        for word in ("PerMonitorV2", "<activeCodePage", "UTF-8"):
            self.assertIn(word, manifest)


if __name__ == "__main__":
    unittest.main()
