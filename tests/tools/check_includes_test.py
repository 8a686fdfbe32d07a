"""tools/check-includes finds each kind of include that points the wrong way, and nothing else."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-includes"

IN_ORDER = {
    "src/base/time.h": "#include <cstdint>\n",
    "src/trace/trace.h": '#include "base/time.h"\n#include "trace/span.h"\n',
    "src/trace/span.h": "",
    "src/machine/machine.h": '#include "base/time.h"\n',
    "src/data/sampler.h": '#include "base/time.h"\n',
    "src/program/program.h": '#include "trace/trace.h"\n#include "machine/machine.h"\n',
    "src/sim/sim.cpp": '#include <fmt/core.h>\n#include "program/program.h"\n',
    "src/train/build.h": '#include "data/sampler.h"\n#include "program/program.h"\n',
    "src/cuda/run.cu": '#include <cuda_runtime.h>\n#include "kernels/axpy.cuh"\n#include "program/program.h"\n',
    "src/host/float_types.h": "",
    "src/host/views.h": "",
    "kernels/axpy.cuh": "#include <cuda_fp16.h>\n",
    "kernels/emulator/language.h": '#include "host/float_types.h"\n',
    "src/cli/main.cpp": '#include "ui/app/window.h"\n#include "trace/trace.h"\n',
    "ui/app/window.h": '#include "ui/timeline/view.h"\n',
    "ui/timeline/view.h": '#include <imgui.h>\n#include "trace/trace.h"\n#include "ui/app/theme.h"\n',
    "ui/app/theme.h": "",
}


def run_on(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            file = pathlib.Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return subprocess.run(
            [sys.executable, TOOL, "--root", folder], capture_output=True, text=True, check=False
        )


class CheckIncludes(unittest.TestCase):
    def finds(self, file, line, reason):
        """With `line` added to `file` the check fails, says where, and says `reason`."""
        text = IN_ORDER.get(file, "")
        result = run_on({**IN_ORDER, file: text + line + "\n"})
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(f"{file}:{text.count(chr(10)) + 1}: ", result.stdout)
        self.assertIn(reason, result.stdout)
        self.assertIn("1 out of order", result.stdout)

    def test_a_tree_in_order_passes(self):
        result = run_on(IN_ORDER)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertIn(f"{len(IN_ORDER)} files, 0 out of order", result.stdout)

    def test_an_include_that_points_back(self):
        self.finds("src/trace/trace.h", '#include "program/program.h"', "program comes after trace")
        self.finds("src/base/time.h", '  #  include "trace/trace.h"', "trace comes after base")
        self.finds("ui/app/theme.h", '#include "cli/main.cpp"', "cli comes after ui")

    def test_siblings_do_not_know_each_other(self):
        self.finds("src/trace/trace.h", '#include "machine/machine.h"', "do not know each other")
        self.finds("src/data/sampler.h", '#include "trace/trace.h"', "do not know each other")
        self.finds("src/sim/sim.cpp", '#include "train/build.h"', "do not know each other")

    def test_cuda_headers_stay_in_the_cuda_folder(self):
        self.finds("src/sim/sim.cpp", "#include <cuda_runtime.h>", "src/cuda")
        self.finds("ui/app/theme.h", "#include <nccl.h>", "src/cuda")
        self.finds("src/sim/sim.cpp", '#include "kernels/axpy.cuh"', "only src/cuda includes kernels/")

    def test_kernels_know_no_other_folder(self):
        self.finds("kernels/axpy.cuh", '#include "host/views.h"', "only src/cuda includes kernels/")

    def test_window_headers_stay_in_ui(self):
        self.finds("src/sim/sim.cpp", "#include <imgui.h>", "window headers")
        self.finds("src/cli/main.cpp", "#include <implot.h>", "window headers")

    def test_the_command_line_reaches_the_window_through_one_header(self):
        self.finds("src/cli/main.cpp", '#include "ui/timeline/view.h"', "through one header of ui/app")
        result = run_on({**IN_ORDER, "src/cli/b.cpp": '#include "ui/app/theme.h"\n'})
        self.assertEqual(result.returncode, 1)
        self.assertIn("not 2", result.stdout)

    def test_includes_are_written_relative_to_src(self):
        self.finds("src/trace/trace.h", '#include "span.h"', "no such file")
        self.finds("src/trace/trace.h", '#include "../base/time.h"', "no such file")
        self.finds("src/trace/trace.h", '#include "src/base/time.h"', "relative to src/")
        self.finds("src/trace/trace.h", "#include <base/time.h>", "quotes")

    def test_a_folder_without_a_place(self):
        result = run_on({**IN_ORDER, "src/extra/x.cpp": ""})
        self.assertEqual(result.returncode, 1)
        self.assertIn("no place in the order", result.stdout)


if __name__ == "__main__":
    unittest.main()
