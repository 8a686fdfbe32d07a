"""How libraries are found for another system, where they are compiled along (cmake/cross)."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
# An archive that needs zlib, in a project of its own: what FreeType is to the UI sources.
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(archive LANGUAGES C)
list(APPEND CMAKE_MODULE_PATH {SOURCES}/cmake/cross/modules)
find_package(ZLIB)
file(WRITE ${{CMAKE_BINARY_DIR}}/archive.c "#include <zlib.h>\\nint version(void) {{ return kOurs; }}")
add_library(archive STATIC ${{CMAKE_BINARY_DIR}}/archive.c)
target_link_libraries(archive PRIVATE ${{ZLIB_LIBRARIES}})
"""


class Cross(unittest.TestCase):
    def test_a_project_of_its_own_compiles_by_the_zlib_that_is_compiled_along(self):
        pinned = (SOURCES / "cmake/cross/sources.txt").read_text(encoding="utf-8").splitlines()
        version = next(line.split()[1] for line in pinned if line.startswith("zlib "))
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            zlib = folder / "cache" / "trainscope" / f"zlib-{version}"
            zlib.mkdir(parents=True)
            (zlib / "there").touch()
            (zlib / "zlib.h").write_text("enum { kOurs = 1 };\n", encoding="utf-8")
            (folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
            environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
            for command in (["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "made"],
                            ["cmake", "--build", folder / "made"]):
                result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_toolchains_are_named_by_whole_paths(self):
        # What is configured along is not told where a relative one is looked for, when all is configured again.
        presets = json.loads((SOURCES / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
        named = [preset["toolchainFile"] for preset in presets if "toolchainFile" in preset]
        self.assertGreaterEqual(len(named), 2)
        for toolchain in named:
            self.assertRegex(toolchain, r"^\$\{sourceDir\}/")
            self.assertTrue((SOURCES / toolchain.removeprefix("${sourceDir}/")).exists())


if __name__ == "__main__":
    unittest.main()
