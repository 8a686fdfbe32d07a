"""What nvcc makes of the kernels is as good as it was: no registers in local memory, memory written in wide pieces, and
enough of it under way. The table below says what is asked of which kernel; nothing of it is measured.

An SM of an H200 has 36 bytes a nanosecond and waits about 650 ns for memory: 24 KB have to be under way on it. With
2,048 threads those are 12 bytes of each, where nothing but reading is done, and less where as much is written.

Another compiler than the table's may do otherwise: then the table is not looked at.
"""

import dataclasses
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import machine_code  # noqa: E402


RELEASE = "13.0"  # of nvcc, whose code the table is of


@dataclasses.dataclass(frozen=True)
class Asked:
    """Of the kernels of a file whose names begin so. `narrow`: the most stores of less than 16 bytes (those of what is
    left behind whole packs). `registers`: the most, as so many blocks of its threads are to fit."""

    file: str
    begins: str
    under_way: int
    registers: int
    narrow: int


ASKED = (
    Asked("bandwidth", "map_kernel<Copied, float", 32, 32, 2),
    Asked("bandwidth", "map_kernel<Triad, float", 32, 32, 1),
    Asked("elementwise", "map_kernel<Sum, float", 32, 32, 1),
    Asked("elementwise", "map_kernel<Scaled, Half", 32, 40, 2),
    Asked("cast", "map_kernel<Identity, float, Half", 32, 40, 4),
    Asked("activation", "map_kernel<Forward<GeluErf>, float", 32, 40, 2),
    Asked("activation", "map_kernel<Backward<GeluErf>, float", 16, 40, 1),
    Asked("dropout", "dropout_kernel<float", 16, 32, 4),
    Asked("dropout", "dropout_kernel<Half", 16, 32, 8),
    Asked("adam", "adam_step_kernel<float, float", 64, 56, 24),
    Asked("sgd", "sgd_step_kernel<float, float", 96, 40, 19),
    Asked("layer_norm", "layer_norm_forward_kernel<float", 48, 32, 3),
    Asked("layer_norm", "layer_norm_forward_kernel<Half", 80, 32, 3),
    Asked("layer_norm", "layer_norm_backward_kernel<float", 48, 32, 1),
    Asked("layer_norm", "column_sums_kernel<ParameterTerms<float>, KeepPart", 128, 64, 2),
    Asked("reductions", "column_sums_kernel<Terms<float>, KeepPart", 32, 32, 1),
    Asked("reductions", "column_sums_kernel<Terms<Half>, KeepPart", 16, 32, 1),
    Asked("reductions", "sum_kernel<float", 64, 32, 1),
    Asked("log_softmax", "log_softmax_forward_kernel<true", 16, 32, 2),
    Asked("batch_norm", "part_moments_kernel<PlaneWalk, float", 32, 48, 2),
    Asked("batch_norm", "normalise_kernel<PlaneWalk, float", 64, 48, 4),
    Asked("batch_norm", "gradient_sums_kernel<PlaneWalk, float", 64, 48, 2),
    Asked("batch_norm", "input_gradient_kernel<PlaneWalk, float", 64, 48, 2),
    Asked("attention", "tile_product_kernel<HeadsProduct<float, float, float, true, true", 32, 128, 16),
    Asked("tiled_attention", "tiled_forward_kernel<Tiling<32, 2>, float", 32, 80, 9),
    Asked("tiled_attention", "tiled_keys_kernel<Tiling<32, 2>, float", 32, 96, 16),
)


def faults(kernel, asked):
    """What is worse than asked, in words."""
    narrow = sum(count for width, count in kernel.stores.items() if width < 16)
    found = []
    if kernel.stack or kernel.local:
        found.append(f"{kernel.stack} bytes of stack and {kernel.local} accesses to local memory, not none")
    if kernel.under_way < asked.under_way:
        found.append(f"{kernel.under_way} bytes under way, not {asked.under_way}")
    if kernel.registers > asked.registers:
        found.append(f"{kernel.registers} registers, more than {asked.registers}")
    if narrow > asked.narrow:
        found.append(f"{narrow} stores of less than 16 bytes, more than {asked.narrow}")
    return found


class TheTable(unittest.TestCase):
    """Where nvcc is, and cuobjdump."""

    def test_each_kernel_is_as_asked(self):
        files = sorted({asked.file for asked in ASKED})
        kernels = machine_code.kernels_in_all(files, "90")
        for asked in ASKED:
            meant = [kernel for kernel in kernels[asked.file] if kernel.name.startswith(asked.begins)]
            with self.subTest(asked.begins):
                self.assertTrue(meant, f"kernels/{asked.file}.cu has no kernel {asked.begins}")
            for kernel in meant:
                with self.subTest(kernel.name):
                    if why := "; ".join(faults(kernel, asked)):
                        self.fail(f"kernels/{asked.file}.cu: {kernel.name} has {why}. In all: {kernel}")


class Reading(unittest.TestCase):
    """From listings as cuobjdump prints them."""

    SASS = """
\t\tFunction : one
        /*0000*/                   LDC R1, c[0x0][0x28] ;    /* 0x00000a00ff017b82 */
                                                             /* 0x000fe20000000800 */
        /*0010*/                   LDG.E.128 R4, desc[UR6][R2.64] ;    /* 0x0 */
        /*0020*/              @!P0 LDG.E.64 R8, desc[UR6][R2.64+0x10] ;    /* 0x0 */
        /*0030*/                   FADD R12, R12, R5 ;    /* 0x0 */
        /*0040*/                   LDG.E.U16 R14, desc[UR6][R2.64+0x20] ;    /* 0x0 */
        /*0050*/                   STG.E.128 desc[UR6][R16.64], R20 ;    /* 0x0 */
        /*0060*/                   STG.E desc[UR6][R16.64], R9 ;    /* 0x0 */
        /*0070*/                   STL [R1], R9 ;    /* 0x0 */
\t\tFunction : two
        /*0000*/                   EXIT ;    /* 0x0 */
"""
    USAGE = """
 Function one:
  REG:22 STACK:8 SHARED:0 LOCAL:0 CONSTANT[0]:560 TEXTURE:0 SURFACE:0 SAMPLER:0
"""

    def kernel(self, sass=SASS):
        return next(machine_code.kernels_of(sass, self.USAGE))

    def test_widths_registers_and_local_memory_are_counted(self):
        kernel = self.kernel()
        self.assertEqual(kernel.loads, {16: 1, 8: 1, 2: 1})
        self.assertEqual(kernel.stores, {16: 1, 4: 1})
        self.assertEqual((kernel.registers, kernel.stack, kernel.local), (22, 8, 1))

    def test_loads_are_under_way_until_one_of_them_is_wanted(self):
        self.assertEqual(self.kernel().under_way, 16 + 8)
        waits = self.SASS.replace("[R2.64+0x10]", "[R4.64]")  # of what the first is to bring
        self.assertEqual(self.kernel(waits).under_way, 16)

    def test_what_is_stored_is_wanted_to_its_last_register(self):
        stored = self.SASS.replace("FADD R12, R12, R5", "STG.E.128 desc[UR6][R16.64], R0")
        self.assertEqual(self.kernel(stored.replace("R14,", "R15,")).under_way, 24 + 2)
        self.assertEqual(self.kernel(stored.replace("R0 ;", "R8 ;")).under_way, 24)

    def test_a_kernel_is_named_as_its_source_has_it(self):
        name = "void trainscope::kernels::(anonymous namespace)::sum<__half, 2>(float (*)(int), int)"
        self.assertEqual(machine_code.plain(name), "sum<Half, 2>")

    def test_a_kernel_that_is_worse_than_asked_is_told_why(self):
        why = faults(self.kernel(), Asked("file", "one", 32, 20, 0))
        self.assertEqual(len(why), 4)
        self.assertIn("24 bytes under way, not 32", why)
        self.assertEqual(faults(machine_code.Kernel("two", 10), Asked("file", "two", 0, 32, 0)), [])


def why_not():
    """Why the table cannot be looked at here; nothing where it can."""
    try:
        release = machine_code.compiler_release()
    except machine_code.Missing as why:
        return str(why)
    return "" if release == RELEASE else f"the table is of nvcc {RELEASE}, and here is {release}"


def main():
    if not (why := why_not()):
        unittest.main()
    done = unittest.main(argv=[sys.argv[0], "Reading"], exit=False)
    print(f"skipped: {why}")
    sys.exit(77 if done.result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
