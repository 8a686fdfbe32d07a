"""What tools/on-gpu says and returns where it has nothing to run with, and what it leaves where it has."""

import os
import pathlib
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A program that does what it is told: refuses the GPU, or leaves the files that its options name.
NO_GPU = 'echo "trainscope: there is no NVIDIA driver here; --executor sim simulates the same run" >&2; exit 3'
WORKS = (
    'echo "$*" >>"$CALLS"; while [ $# -gt 0 ]; do case $1 in --save) echo saved >"$2" ;; esac; shift; done; '
    'echo "gpu.busy                      5.00 us  GPU busy"; echo fine'
)
BREAKS = WORKS.replace("echo fine", "") + 'grep -q calibrate "$CALLS" || exit 0; echo "the GPU stopped" >&2; exit 1'


class OnGpu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = self.folder / "calls"
        self.out = self.folder / "out"

    def pack(self, body, programs=("trainscope", "tests_device", "tests_training", "trainscope_bench")):
        packed = self.folder / "packed"
        packed.mkdir()
        for name in programs:
            (packed / name).write_text(f"#!/bin/sh\n{body}\n")
            (packed / name).chmod(0o755)
        return packed

    def run_tool(self, *arguments, **variables):
        environment = {**os.environ, "CALLS": str(self.calls), "TMPDIR": str(self.folder), **variables}
        return subprocess.run(
            [ROOT / "tools/on-gpu", *arguments], env=environment, capture_output=True, text=True, check=False
        )

    def test_without_a_gpu_it_says_so_in_one_sentence_and_writes_nothing(self):
        result = self.run_tool("run", self.out, self.pack(NO_GPU))
        self.assertEqual(result.returncode, 3)
        self.assertEqual(result.stderr, "there is no NVIDIA driver here; --executor sim simulates the same run\n")
        self.assertFalse(self.out.exists())

    def with_gpu(self, name="a GPU"):
        """A machine that has a GPU: its PATH, with an nvidia-smi that tells of it."""
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "nvidia-smi").write_text(f"#!/bin/sh\necho {name}\n[ \"$1\" != -l ] || exec sleep 60\n")
        (tools / "nvidia-smi").chmod(0o755)
        return f"{tools}:{os.environ['PATH']}"

    def test_where_there_is_a_gpu_and_no_run_works_what_is_known_of_it_is_kept(self):
        result = self.run_tool("run", self.out, self.pack(NO_GPU), PATH=self.with_gpu())
        self.assertEqual(result.returncode, 3)
        self.assertIn("no run can be measured: there is no NVIDIA driver here", result.stderr)
        self.assertIn("a GPU", (self.out / "nvidia-smi.txt").read_text())
        self.assertIn("a GPU", (self.out / "machine.txt").read_text())
        self.assertIn("no NVIDIA driver", (self.out / "first-run.txt").read_text())
        self.assertIn("no NVIDIA driver", (self.out / "doctor.txt").read_text())
        self.assertIn("no NVIDIA driver", (self.out / "tests.txt").read_text())

    def test_tests_that_are_skipped_are_no_failure(self):
        skips = WORKS.replace("echo fine", 'case $(tail -n 1 "$CALLS") in *durations*) echo "1 skipped"; exit 77 ;; esac; echo fine')
        result = self.run_tool("run", self.out, self.pack(skips))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("some of it skipped: 1 skipped", (self.out / "summary.txt").read_text())

    def test_where_the_tracer_is_what_fails_the_rest_is_done_without_it(self):
        no_tracer = '[ "$TRAINSCOPE_TRACER" = events ] || { echo "CUPTI crashes" >&2; exit 134; }; ' + WORKS
        result = self.run_tool("run", self.out, self.pack(no_tracer), PATH=self.with_gpu())
        self.assertEqual(result.returncode, 1)
        self.assertIn("no run can be measured: CUPTI crashes", result.stderr)
        self.assertIn("done: calibrate", (self.out / "summary.txt").read_text())

    def test_where_the_tracer_tells_of_no_kernel_times_are_from_events(self):
        silent = WORKS.replace("5.00 us", "0 ns") + '; echo "tracer $TRAINSCOPE_TRACER" >>"$CALLS"'
        result = self.run_tool("run", self.out, self.pack(silent), PATH=self.with_gpu())
        self.assertEqual(result.returncode, 1)
        self.assertIn("the tracer starts, and tells of no kernel", result.stderr)
        self.assertIn("done: calibrate", (self.out / "summary.txt").read_text())
        told = [line for line in self.calls.read_text().splitlines() if line.startswith("tracer")]
        self.assertEqual((told[0].strip(), set(told[1:])), ("tracer", {"tracer events"}))

    def test_single_steps_can_be_asked_for(self):
        result = self.run_tool("run", self.out, self.pack(WORKS), "--only", "calibrate,recordings")
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = (self.out / "summary.txt").read_text()
        self.assertIn("done: calibrate", summary)
        self.assertIn("done: recordings/launch-bound", summary)
        self.assertNotIn("validate", summary)
        self.assertNotIn("tests", summary)

    def test_what_was_calibrated_is_validated_too(self):
        writes = (
            'echo "$*" >>"$CALLS"; case $1 in calibrate) mkdir -p "$5/machines"; : >"$5/machines/measured-1.toml" ;; esac'
        )
        result = self.run_tool("run", self.out, self.pack(writes))
        self.assertIn("done: validate-calibrated", result.stderr)
        self.assertIn(f"validate --machine {self.out}/machines/measured-1.toml", self.calls.read_text())

    def test_what_is_simulated_beside_a_recording_is_the_gpu_that_is_here(self):
        result = self.run_tool(
            "run", self.out, self.pack(WORKS), "--only", "recordings", PATH=self.with_gpu("NVIDIA H100 80GB HBM3")
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = self.calls.read_text()
        self.assertIn("run launch-bound --machine h100-sxm-1 --save", calls)
        blocks = "--set A.kernel.grid=132 --set B.kernel.grid=133"
        self.assertIn(f"run waves-and-tails --machine h100-sxm-1 {blocks} --executor cuda", calls)
        self.assertNotIn("--machine h100-sxm-1 --machine", calls)

    def test_cases_behind_one_that_loses_the_gpu_have_a_process_each(self):
        loses = (
            'case "$*" in --list-test-names-only) printf "one\\ntwo\\nthree, or more\\nfour\\n" ;; '
            '"--durations yes") printf "0.1 s: one\\n  the GPU\\n  stopped and\\n0.1 s: two\\n0.1 s: three\\n"; exit 1 ;; '
            f"*) {WORKS} ;; esac"
        )
        result = self.run_tool("run", self.out, self.pack(loses), "--only", "tests")
        self.assertEqual(result.returncode, 1)
        calls = self.calls.read_text()
        self.assertIn("--durations yes three\\, or more\n--durations yes four\n", calls)
        self.assertNotIn("yes two", calls)
        self.assertIn("done: tests/3", (self.out / "summary.txt").read_text())
        self.assertIn("fine", (self.out / "tests" / "4.txt").read_text())

    def test_cases_behind_one_that_crashes_or_hangs_have_a_process_each(self):
        for number, words in enumerate(("due to a fatal error condition:", "it took longer than 120 s")):
            self.out = self.folder / f"out{number}"
            self.calls.unlink(missing_ok=True)
            ends = (
                'case "$*" in --list-test-names-only) printf "one\\ntwo\\nthree\\n" ;; '
                f'"--durations yes") printf "0.1 s: one\\n{words}\\n"; exit 1 ;; '
                f"*) {WORKS} ;; esac"
            )
            packed = self.pack(ends)
            result = self.run_tool("run", self.out, packed, "--only", "tests")
            shutil.rmtree(packed)
            self.assertEqual(result.returncode, 1)
            self.assertIn("--durations yes three\n", self.calls.read_text())
            self.assertNotIn("yes two", self.calls.read_text())

    def test_what_needs_no_gpu_is_simulated_last_or_later(self):
        packed = self.pack(WORKS)
        result = self.run_tool("run", self.out, packed)
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = self.calls.read_text()
        self.assertLess(calls.index("device-tracing"), calls.index("simulated"))
        one = self.out / "recordings" / "launch-bound.simulated.tsrun"
        one.unlink()
        self.calls.unlink()
        result = self.run_tool("simulate", self.out, packed)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(one.exists())
        self.assertEqual(self.calls.read_text(), f"run launch-bound --save {one}\n")

    def test_without_a_run_there_is_nothing_to_simulate(self):
        result = self.run_tool("simulate", self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_where_the_first_case_loses_the_gpu_all_others_are_tried(self):
        loses = (
            'case "$*" in --list-test-names-only) printf "one\\ntwo\\n" ;; '
            '"--durations yes") echo "the GPU stopped and can do nothing more"; exit 1 ;; '
            f"*) {WORKS} ;; esac"
        )
        self.run_tool("run", self.out, self.pack(loses), "--only", "tests")
        self.assertIn("done: tests/2", (self.out / "summary.txt").read_text())

    def test_a_pack_of_other_sources_is_told(self):
        packed = self.pack(WORKS)
        (packed / "sources").write_text("another number\n")
        result = self.run_tool("run", self.out, packed, "--only", "doctor")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the pack in use is of other sources", (self.out / "summary.txt").read_text())

    def test_without_a_place_for_the_results_it_asks_for_one(self):
        result = self.run_tool("run")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_it_tests_calibrates_validates_and_records_a_run_and_its_simulation(self):
        result = self.run_tool("run", self.out, self.pack(WORKS))
        self.assertEqual(result.returncode, 0, result.stderr)
        recordings = {file.name for file in (self.out / "recordings").glob("*.tsrun")}
        self.assertEqual(len(recordings), 16)
        self.assertIn("training-step.tsrun", recordings)
        self.assertIn("pinned-vs-pageable.simulated.tsrun", recordings)
        calls = self.calls.read_text()
        for command in ("doctor", "calibrate --id measured", "validate --out"):
            self.assertIn(command, calls)
        self.assertIn("fine", (self.out / "kernels.txt").read_text())
        self.assertIn("fine", (self.out / "steps.txt").read_text())
        self.assertIn("done: calibrate", (self.out / "summary.txt").read_text())

    def test_a_pack_is_one_file_and_is_unpacked_elsewhere(self):
        packed = self.pack(WORKS)
        carried = self.folder / "carried"
        carried.mkdir()
        with tarfile.open(carried / "pack.tar.gz", "w:gz") as archive:
            archive.add(packed, ".")
        result = self.run_tool("run", self.out, carried)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([file.name for file in carried.iterdir()], ["pack.tar.gz"])
        self.assertIn("done: calibrate", (self.out / "summary.txt").read_text())

    def test_all_of_it_can_be_one_file(self):
        result = self.run_tool("run", self.folder / "new" / "all.tar.gz", self.pack(WORKS))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([file.name for file in (self.folder / "new").iterdir()], ["all.tar.gz"])
        with tarfile.open(self.folder / "new" / "all.tar.gz") as archive:
            names = archive.getnames()
        self.assertIn("./summary.txt", names)
        self.assertIn("./recordings/training-step.tsrun", names)

    def test_what_there_is_when_the_time_is_cut_is_in_the_file(self):
        slow = WORKS.replace("echo fine", 'case $(tail -n 1 "$CALLS") in calibrate*) sleep 30 ;; esac; echo fine')
        command = [ROOT / "tools/on-gpu", "run", self.folder / "cut.tar.gz", self.pack(slow)]
        environment = {**os.environ, "CALLS": str(self.calls), "TMPDIR": str(self.folder)}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, start_new_session=True) as process:
            while not (self.calls.exists() and "calibrate" in self.calls.read_text()):
                time.sleep(0.05)
            os.killpg(process.pid, signal.SIGTERM)
            process.communicate(timeout=20)
        self.assertEqual(process.returncode, 1)
        with tarfile.open(self.folder / "cut.tar.gz") as archive:
            self.assertIn("./doctor.txt", archive.getnames())

    def test_what_fails_is_named_with_its_last_words_and_the_rest_is_done(self):
        result = self.run_tool("run", self.out, self.pack(BREAKS))
        self.assertEqual(result.returncode, 1)
        self.assertIn("not done: calibrate: the GPU stopped", result.stderr)
        self.assertIn("done: doctor", result.stderr)
        self.assertIn("not done: kernels", result.stderr)

    def test_what_there_is_no_time_for_is_not_begun(self):
        result = self.run_tool("run", self.out, self.pack(WORKS), TRAINSCOPE_GPU_SECONDS="0")
        self.assertEqual(result.returncode, 1)
        self.assertIn("not done: kernels: the time is used up", result.stderr)

    def test_it_shows_its_usage(self):
        result = self.run_tool()
        self.assertEqual(result.returncode, 2)
        self.assertIn("tools/on-gpu run OUT", result.stderr)


if __name__ == "__main__":
    unittest.main()
