#!/usr/bin/env python3
"""What nvcc makes of the kernels, read from their machine code: registers, local memory, how wide global memory is
read and written, and how many bytes of it a thread has under way.

    python3 tests/tools/machine_code.py [--capability 90] [--like REGEX] [NAME...]

A line for each kernel of kernels/NAME.cu, of all without names. Needs nvcc, cuobjdump (beside nvcc in a full toolkit;
or pip install nvidia-cuda-cuobjdump) and c++filt. No GPU: it says what a kernel can do, and nothing of how long it takes.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
REGISTER = re.compile(r"\bR(\d+)(\.64)?\b")
WIDTHS = ((".128", 16), (".64", 8), (".U8", 1), (".S8", 1), (".U16", 2), (".S16", 2))


class Missing(Exception):
    """A program is not here: which, and where it could be from."""


def tool(name, beside=None):
    places = [shutil.which(name), "/usr/local/cuda/bin/" + name]
    places += [os.path.join(os.environ[home], "bin", name) for home in ("CUDA_HOME", "CUDA_PATH") if home in os.environ]
    if beside:
        places.append(str(pathlib.Path(os.path.realpath(beside)).parent / name))
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    raise Missing(f"there is no {name}: install the CUDA toolkit, or put the program's folder into PATH")


def width_of(opcode):
    return next((bytes_ for part, bytes_ in WIDTHS if part in opcode), 4)


def registers_in(operands):
    found = set()
    for number, is_pair in REGISTER.findall(operands):
        found |= {int(number), int(number) + 1} if is_pair else {int(number)}
    return found


def registers_from(operand, width):
    """Those of a value of so many bytes that begins in the operand's register."""
    first = REGISTER.search(operand)
    return {int(first[1]) + k for k in range(max(1, width // 4))} if first else set()


def wanted_by(opcode, operands):
    """The registers that an instruction reads."""
    if opcode.startswith("ST"):
        address, _, value = operands.rpartition(",")
        return registers_in(address) | registers_from(value, width_of(opcode))
    if opcode.startswith(("RED", "ATOM")):
        return registers_in(operands)
    return registers_in(operands.partition(",")[2])


def most_under_way(instructions):
    """The most bytes of global loads that are under way at once: those made, in the code's order, before the first
    instruction that wants one of them or of those before it."""
    most, loads = 0, []
    for opcode, operands in instructions:
        wanted = wanted_by(opcode, operands)
        awaited = [k for k, (registers, _) in enumerate(loads) if registers & wanted]
        if awaited:
            loads = loads[awaited[-1] + 1 :]
        if opcode.startswith("LDG"):
            width = width_of(opcode)
            loads.append((registers_from(operands.partition(",")[0], width), width))
            most = max(most, sum(bytes_ for _, bytes_ in loads))
    return most


@dataclasses.dataclass
class Kernel:
    name: str
    registers: int = 0
    stack: int = 0
    loads: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    stores: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    local: int = 0
    under_way: int = 0

    def __str__(self):
        def counts(of):
            return "+".join(f"{count}x{width}" for width, count in sorted(of.items(), reverse=True)) or "-"

        spilled = f", {self.stack} bytes of stack, {self.local} accesses to local memory" if self.stack else ""
        return (
            f"{self.name}: {self.registers} registers, loads {counts(self.loads)}, stores {counts(self.stores)}, "
            f"{self.under_way} bytes under way{spilled}"
        )


def code_of(listing):
    """{mangled name: [(opcode, operands)]} of what cuobjdump -sass prints."""
    code, name = {}, None
    for line in listing.splitlines():
        if line.lstrip().startswith("Function :"):
            name = line.split(":", 1)[1].strip()
            code[name] = []
        elif name and (match := INSTRUCTION.match(line)):
            code[name].append((match[1], match[2]))
    return code


def usage_of(listing):
    """{mangled name: (registers, stack)} of what cuobjdump -res-usage prints."""
    found = re.findall(r"Function (\S+?):\s+REG:(\d+) STACK:(\d+)", listing)
    return {name: (int(registers), int(stack)) for name, registers, stack in found}


def kernels_of(sass, usage):
    of = usage_of(usage)
    for name, instructions in code_of(sass).items():
        kernel = Kernel(name, *of.get(name, (0, 0)), under_way=most_under_way(instructions))
        for opcode, _ in instructions:
            if opcode.startswith("LDG"):
                kernel.loads[width_of(opcode)] += 1
            elif opcode.startswith("STG"):
                kernel.stores[width_of(opcode)] += 1
            elif opcode.startswith(("LDL", "STL")):
                kernel.local += 1
        yield kernel


def plain(name):
    """A kernel's name and template arguments, as they stand in its source."""
    name = re.sub(r"trainscope::kernels::|\(anonymous namespace\)::|^void ", "", name)
    name = name.replace("__nv_bfloat16", "Bfloat16").replace("__half", "Half")
    depth = 0
    for at, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            return name[:at]
    return name


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed:\n{done.stderr}")
    return done.stdout + done.stderr


def find_tools():
    """nvcc, cuobjdump and c++filt. Throws Missing."""
    nvcc = tool("nvcc")
    return nvcc, tool("cuobjdump", nvcc), tool("c++filt")


def compiler_release():
    """13.0, as nvcc tells it."""
    return re.search(r"release ([\d.]+)", run(find_tools()[0], "--version"))[1]


def kernels_in(source, capability):
    """The kernels that nvcc makes of a file, as the build has it compile them."""
    nvcc, cuobjdump, filt = find_tools()
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder, "kernels.cubin")
        includes = ["-I", ROOT, "-I", ROOT / "src"]
        run(nvcc, "-std=c++20", "-O3", f"-arch=sm_{capability}", *includes, "-cubin", source, "-o", cubin)
        found = list(kernels_of(run(cuobjdump, "-sass", cubin), run(cuobjdump, "-res-usage", cubin)))
    names = run(filt, input="\n".join(kernel.name for kernel in found)).splitlines()
    for kernel, name in zip(found, names):
        kernel.name = plain(name)
    return sorted(found, key=lambda kernel: kernel.name)


def kernels_in_all(names, capability):
    """{name: kernels of kernels/name.cu}."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = [ROOT / "kernels" / f"{name}.cu" for name in names]
        return dict(zip(names, pool.map(lambda source: kernels_in(source, capability), sources)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=sorted(file.stem for file in (ROOT / "kernels").glob("*.cu")))
    parser.add_argument("--capability", default="90")
    parser.add_argument("--like", type=re.compile, default=re.compile(""))
    options = parser.parse_args()
    try:
        for name, kernels in kernels_in_all(options.names, options.capability).items():
            for kernel in kernels:
                if options.like.search(kernel.name):
                    print(f"{name}: {kernel}")
    except Missing as why:
        sys.exit(str(why))


if __name__ == "__main__":
    main()
