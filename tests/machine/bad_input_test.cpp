// What is said to somebody who wrote a machine or GPU file that is wrong.
#include <catch2/catch.hpp>

#include "base/error.h"
#include "machine/machine.h"
#include "machine/machine_folder.h"

using namespace trainscope;
using namespace trainscope::machine;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using namespace trainscope::test;

TEST_CASE("an unknown machine gets the nearest id and how to list them") {
  CHECK_THROWS_WITH(load_machine("h20-1"),
                    "there is no machine h20-1 (did you mean h200-1?); `trainscope machines` lists "
                    "them, and a file of your own ends in .toml");
  CHECK_THROWS_AS(load_machine(""), InputError);
  CHECK_THROWS_WITH(load_machine("../gpus/t4"), StartsWith("there is no machine ../gpus/t4;"));
  CHECK_THROWS_WITH(load_machine(std::string(100'000, 'h')), StartsWith("there is no machine"));
  CHECK_THROWS_WITH(load_machine("nowhere/my.toml"), "nowhere/my.toml: there is no such file");
}

TEST_CASE("an unknown key is named with its place and the nearest right one") {
  const MachineFolder folder;
  CHECK_THAT(folder.refusal(with_host("lunch_call = 3")),
             Equals("my.toml:3:1: [host] has no key lunch_call (did you mean launch_call?)"));
  CHECK_THAT(folder.refusal("base = \"t4-1\"\n[pci]\nlanes = 8\n"),
             Equals("my.toml:2:2: a machine file has no key pci (did you mean pcie?)"));
  CHECK_THAT(folder.refusal("base = \"t4-1\"\n[gpu]\nsm_cuont = 8\n"),
             Equals("my.toml:3:1: [gpu] has no key sm_cuont (did you mean sm_count?)"));
  CHECK_THAT(folder.refusal(with_host("wake = { valeu = 1, unit = \"us\" }")),
             Equals("my.toml:3:10: host.wake has no key valeu (did you mean value?)"));
}

TEST_CASE("a missing number is named with an example") {
  const MachineFolder folder;
  const std::string text = replaced(my_machine(), "generation = 3\n", "");
  CHECK_THAT(folder.refusal(text),
             Equals("my.toml:9:1: pcie.generation is missing; write for example generation = 16"));
  CHECK_THAT(folder.refusal(replaced(my_machine(), "[host]", "[pcie.host]")),
             Contains("[pcie] has no key host"));
  CHECK_THAT(folder.refusal("id = \"my\"\nname = \"mine\"\ngpu = \"t4\"\nsource = \"datasheet\"\n"
                            "gpu_count = 1\n"),
             Equals("my.toml: has no table [pcie]; add it, or start from a shipped machine: base = "
                    "\"h200-1\""));
  CHECK_THAT(folder.refusal("id = \"my\"\nname = \"mine\"\n"),
             Equals("my.toml: names no GPU; write gpu = \"h200\""));
  CHECK_THAT(folder.refusal(""), Equals("my.toml: has no id; write id = \"my\""));
  CHECK_THAT(folder.refusal("id = \"my\""), Contains("my.toml: has no name; write name = "));
}

TEST_CASE("a unit of another dimension is refused with the right ones") {
  const MachineFolder folder;
  const std::string rest = "source = \"measured\", note = \"x\" }";
  CHECK_THAT(
      folder.refusal(with_host("memcpy = { value = 9, unit = \"GB\", " + rest)),
      Equals("my.toml:3:30: host.memcpy is in bytes a second, and GB is no unit of that (did "
             "you mean GB/s?); write B/s, KB/s, MB/s, GB/s, TB/s or GiB/s"));
  CHECK_THAT(
      folder.refusal(with_host("wake = { value = 9, unit = \"MHz\", " + rest)),
      Equals("my.toml:3:28: host.wake is a time, and MHz is no unit of that; write ns, us, ms "
             "or s"));
  CHECK_THAT(folder.refusal(with_host("cores = { value = 9, unit = \"ns\", " + rest)),
             Contains("host.cores is a plain number, and ns is no unit of that"));
  CHECK_THAT(folder.refusal(with_host("wake = { value = 9, unit = \"usec\", " + rest)),
             Contains("did you mean us?"));
  CHECK_THAT(folder.refusal(with_host("wake = { value = 9, unit = 3, " + rest)),
             Equals("my.toml:3:28: unit must be text in quotes"));
}

TEST_CASE("a number that needs a unit is not taken without one") {
  const MachineFolder folder;
  const std::string sentence =
      "host.wake is a time and needs a unit; write for example { value = 2.5, unit = \"us\" }";
  CHECK_THAT(folder.refusal("source = \"datasheet\"\n" + with_host("wake = 2.5")),
             Equals("my.toml:4:8: " + sentence));
  CHECK_THAT(folder.refusal(with_host("wake = { value = 2.5, source = \"datasheet\" }")),
             Equals("my.toml:3:8: " + sentence));
}

TEST_CASE("a number outside its bounds is refused with the bounds") {
  const MachineFolder folder;
  const auto refusal = [&](const std::string& key, const std::string& value) {
    return folder.refusal(with_host(key + " = { value = " + value + ", source = \"datasheet\" }"));
  };
  CHECK_THAT(refusal("cores", "0"),
             Equals("my.toml:3:19: host.cores is 0; it must be more than 0"));
  CHECK_THAT(refusal("cores", "-4"),
             Equals("my.toml:3:19: host.cores is -4; it must be more than 0"));
  CHECK_THAT(refusal("cores", "1.5"),
             Equals("my.toml:3:19: host.cores is 1.5; it must be a whole number"));
  CHECK_THAT(refusal("cores", "nan"), Contains("host.cores is nan; it must be a finite number"));
  CHECK_THAT(refusal("cores", "inf"), Contains("host.cores is inf; it must be a finite number"));
  CHECK_THAT(refusal("cores", "-inf"), Contains("it must be a finite number"));
  CHECK_THAT(refusal("cores", "1e300"), Contains("it must lie between 1 and 65.5 k"));
  CHECK_THAT(refusal("cores", "9223372036854775807"), Contains("it must lie between 1 and 65.5 k"));
  CHECK_THAT(refusal("wake", "-1, unit = \"us\""),
             Equals("my.toml:3:18: host.wake is -1 us; it must not be negative"));
  CHECK_THAT(refusal("wake", "20, unit = \"s\""),
             Equals("my.toml:3:18: host.wake is 20 s; it must lie between 0 ns and 1 s"));
  CHECK_THAT(refusal("memcpy", "0, unit = \"GB/s\""),
             Equals("my.toml:3:20: host.memcpy is 0 GB/s; it must be more than 0"));
  CHECK_THAT(refusal("memcpy", "1e-300, unit = \"B/s\""), Contains("it must lie between 1 MB/s"));
  CHECK_THAT(refusal("staging_chunk", "4096.5, unit = \"B\""),
             Contains("it must be a whole number of bytes"));
  CHECK_THAT(refusal("cores", "\"4\""), Equals("my.toml:3:19: host.cores is not a number"));
  CHECK_THAT(refusal("cores", "true"), Contains("host.cores is not a number"));
  CHECK_THAT(folder.refusal(with_host("cores = [1]")), Contains("host.cores"));
}

TEST_CASE("a share lies between nothing and all") {
  const MachineFolder folder;
  const auto refusal = [&](const std::string& value) {
    return folder.refusal("base = \"t4-1\"\n[gpu]\ngemm_efficiency = { value = " + value +
                          ", source = \"datasheet\" }\n");
  };
  CHECK(refusal("0.8").empty());
  CHECK(refusal("80, unit = \"%\"").empty());
  CHECK(refusal("1").empty());
  CHECK_THAT(refusal("80"), Contains("gpu.gemm_efficiency is 80; it must lie between"));
  CHECK_THAT(refusal("0"), Contains("it must be more than 0"));
}

TEST_CASE("a number says where it comes from") {
  const MachineFolder folder;
  CHECK_THAT(folder.refusal(with_host("cores = 4")),
             Equals("my.toml:3:9: host.cores has no source; write source = \"datasheet\", "
                    "\"measured\" or \"fitted\" in it or at the top of the file"));
  CHECK_THAT(folder.refusal(with_host("cores = { value = 4, source = \"mesured\", note = \"x\" }")),
             Equals("my.toml:3:31: a source is datasheet, measured or fitted, not mesured (did you "
                    "mean measured?)"));
  CHECK_THAT(
      folder.refusal(with_host("cores = { value = 4, source = \"fitted\" }")),
      Equals("my.toml:3:9: host.cores is fitted and has no note; say with note = \"...\" where "
             "it comes from"));
  CHECK_THAT(folder.refusal(with_host("cores = { source = \"fitted\" }")),
             Equals("my.toml:3:9: host.cores has no value; write 16"));
  CHECK_THAT(folder.refusal("source = 3\n" + with_host("cores = 4")),
             Equals("my.toml:1:10: source must be text in quotes"));
}

TEST_CASE("a file is called as its id") {
  const MachineFolder folder;
  CHECK_THAT(
      folder.refusal(shipped("machines", "t4-1")),
      EndsWith("the id is t4-1 but the file is my.toml; write id = \"my\" or rename the file"));
  CHECK(folder.refusal(my_machine()).empty());
  const auto gpu = folder.write("my-gpu.toml", shipped("gpus", "t4"));
  CHECK_THROWS_WITH(check_gpu_file(gpu), Contains("the id is t4 but the file is my-gpu.toml"));
}

TEST_CASE("an unknown GPU gets the nearest id and the list") {
  const MachineFolder folder;
  CHECK_THAT(folder.refusal(replaced(my_machine(), "gpu = \"t4\"", "gpu = \"rtx409\"")),
             Contains(": there is no GPU rtx409 (did you mean rtx4090?); shipped are "));
  CHECK_THAT(folder.refusal("base = \"t4-1\"\n[gpu]\nbase = \"h20\"\n"),
             StartsWith("my.toml:3:8: there is no GPU h20 (did you mean h200?)"));
  CHECK_THAT(folder.refusal("base = \"t4-1\"\ngpu = 3\n"), StartsWith("my.toml:2:7: gpu must be"));
  CHECK_THAT(folder.refusal("id = \"my\"\nname = \"mine\"\n[gpu]\n"),
             Equals("my.toml:3:1: [gpu] does not say which GPU it changes; write base = \"h200\""));
}

TEST_CASE("files that start from one another are refused") {
  const MachineFolder folder;
  CHECK_THAT(
      folder.refusal("base = \"my.toml\"\n"),
      Equals("my.toml:1:8: base = \"my.toml\" leads back to a file that starts from this one; "
             "let one of them start from a shipped machine"));
  folder.write("a.toml", "base = \"b.toml\"\n");
  folder.write("b.toml", "base = \"./a.toml\"\n");
  CHECK_THAT(folder.refusal_of(folder.path() / "a.toml"),
             StartsWith("b.toml:1:8: base = \"./a.toml\" leads back"));
  std::filesystem::create_symlink(folder.path() / "my.toml", folder.path() / "link.toml");
  CHECK_THAT(folder.refusal("base = \"link.toml\"\n"), Contains("leads back"));
}

TEST_CASE("a file that starts from an unknown machine says so at its place") {
  const MachineFolder folder;
  CHECK_THAT(folder.refusal("\nbase = \"t4\"\n"),
             StartsWith("my.toml:2:8: there is no machine t4 (did you mean t4-1?)"));
  CHECK_THAT(folder.refusal("base = 4\n"), Equals("my.toml:1:8: base must be text in quotes"));
  CHECK_THAT(folder.refusal("base = \"\"\n"), StartsWith("my.toml:1:8: base is empty"));
  CHECK_THAT(folder.refusal("base = \"none.toml\"\n"), Equals("none.toml: there is no such file"));
}

TEST_CASE("a file that is no machine at all is refused") {
  const MachineFolder folder;
  CHECK_THAT(folder.refusal("base = \"t4-1\"\nhost = 3\n"),
             Equals("my.toml:2:8: host must be a table: [host]"));
  CHECK_THAT(folder.refusal("[["), StartsWith("my.toml:1:"));
  CHECK_THAT(folder.refusal(shipped("gpus", "t4")), Contains("a machine file has no key"));
  CHECK_THROWS_WITH(check_gpu_file(home_folder() / "assets" / "machines" / "t4-1.toml"),
                    Contains("a GPU file has no key"));
  CHECK_THROWS_WITH(load_machine(folder.path().string() + "/.toml"),
                    Contains("there is no such file"));
}

TEST_CASE("any unit of the right dimension may be written") {
  const MachineFolder folder;
  const auto file = folder.write(
      "my.toml",
      "base = \"t4-1\"\nsource = \"datasheet\"\n"
      "[gpu]\nboost_clock = { value = 1.5, unit = \"GHz\" }\nl2 = { value = 4096, unit = \"KiB\" "
      "}\n"
      "fp32 = { value = 8100, unit = \"GFLOP/s\" }\nmemory = { value = 16, unit = \"GB\" }\n"
      "memory_efficiency = { value = 90, unit = \"%\" }\n"
      "[pcie]\nh2d = { value = 11900, unit = \"MB/s\" }\nh2d_latency = { value = 2500, unit = "
      "\"ns\" }\n"
      "[host]\nwake = { value = 0.0017, unit = \"ms\" }\nstaging_chunk = { value = 1.1, unit = "
      "\"MB\" }\n");
  const Machine mine = load_machine(file.string());
  CHECK(mine.gpu.boost_clock_hz == Approx(1.5e9));
  CHECK(mine.gpu.l2_bytes == 4'194'304);
  CHECK(mine.gpu.fp32_flops_per_s == Approx(8.1e12));
  CHECK(mine.gpu.memory_bytes == 16'000'000'000);
  CHECK(mine.gpu.memory_efficiency == Approx(0.9));
  CHECK(mine.pcie.h2d_bytes_per_s == Approx(11.9e9));
  CHECK(mine.pcie.h2d_latency_ns == 2'500);
  CHECK(mine.host.wake_ns == 1'700);
  CHECK(mine.host.staging_chunk_bytes == 1'100'000);
}

TEST_CASE("the two directions of a link together lie between one of them and both") {
  const MachineFolder folder;
  const auto refusal = [&](const std::string& both) {
    return folder.refusal("base = \"h200-1\"\nsource = \"datasheet\"\n[pcie]\nboth = { value = " +
                          both + ", unit = \"GB/s\" }\n");
  };
  CHECK(refusal("55.43").empty());
  CHECK(refusal("110.49").empty());
  CHECK_THAT(refusal("55"), Equals("my.toml:4:8: pcie.both is 55 GB/s, less than one direction "
                                   "carries alone; write at least 55.43 GB/s"));
  CHECK_THAT(refusal("111"),
             Equals("my.toml:4:8: pcie.both is 111 GB/s, more than pcie.h2d and pcie.d2h together; "
                    "write at most 110.49 GB/s"));
}

TEST_CASE("the interpreter's part of an operator is a part of it") {
  const MachineFolder folder;
  CHECK_THAT(folder.refusal(with_host("interpreter_call = { value = 11, unit = \"us\", source = "
                                      "\"datasheet\" }")),
             Equals("my.toml:3:20: host.interpreter_call is 11 us, more than the 10.4 us of "
                    "host.eager_operator, of which it is a part"));
  const auto file = folder.write(
      "my.toml",
      with_host("eager_operator = { value = 20, unit = \"us\", source = \"datasheet\" }"));
  CHECK(load_machine(file.string()).host.interpreter_call_ns == 10'000);
}

TEST_CASE("several GPUs need to be told how they are joined") {
  const MachineFolder folder;
  const std::string two = "base = \"t4-1\"\nsource = \"datasheet\"\ngpu_count = 2\n";
  CHECK_THAT(
      folder.refusal(two),
      Equals("my.toml: has 2 GPUs and no table [gpu_link] that says how they are joined; add "
             "it, or start from a shipped machine: base = \"h200-8\""));
  CHECK_THAT(folder.refusal(two + "gpu_link = 3\n"),
             Equals("my.toml:4:12: gpu_link must be a table: [gpu_link]"));
  CHECK_THAT(folder.refusal(two + "[gpu_link]\n"),
             Equals("my.toml:4:1: gpu_link.kind is missing; write for example kind = "
                    "\"nvswitch\""));
  CHECK_THAT(
      folder.refusal(two + "[gpu_link]\nkind = \"nvlnk\"\n"),
      Equals("my.toml:5:8: the kind of a link is nvlink, nvswitch or pcie, not nvlnk (did you "
             "mean nvlink?)"));
  const std::string link = two + "[gpu_link]\nkind = \"pcie\"\n";
  CHECK_THAT(folder.refusal(link), StartsWith("my.toml:4:1: gpu_link.bandwidth is missing; write"));
  const std::string rate = link + "bandwidth = { value = 31.5, unit = \"GB/s\" }\n";
  CHECK_THAT(
      folder.refusal(rate),
      Equals("my.toml:4:1: gpu_link.peer_to_peer is missing; write for example peer_to_peer = "
             "true"));
  CHECK_THAT(folder.refusal(rate + "peer_to_peer = 1\n"),
             Equals("my.toml:7:16: gpu_link.peer_to_peer is neither true nor false"));
  CHECK_THAT(folder.refusal(rate + "peer_to_per = true\n"),
             Contains("[gpu_link] has no key peer_to_per (did you mean peer_to_peer?)"));
  CHECK(folder.refusal(rate + "peer_to_peer = false\n").empty());
}

TEST_CASE("one GPU is joined to none") {
  const MachineFolder folder;
  CHECK_THAT(folder.refusal("base = \"t4-1\"\n[gpu_link]\n"),
             Equals("my.toml:2:1: gpu_link joins several GPUs and gpu_count is 1; leave it out or "
                    "write gpu_count = 8"));
  const auto file =
      folder.write("my.toml", "base = \"h200-8\"\nsource = \"datasheet\"\ngpu_count = 1\n");
  const Machine mine = load_machine(file.string());
  CHECK(mine.gpu_link.kind == LinkKind::kNone);
  CHECK(mine.gpu_link.bytes_per_s == 0);
  CHECK(mine.figures.size() == load_machine("h200-1").figures.size());
}

TEST_CASE("several nodes need to be told how they are joined, and one is joined to none") {
  const MachineFolder folder;
  const std::string two = "base = \"h200-8\"\nsource = \"datasheet\"\nnodes = 2\n";
  CHECK_THAT(
      folder.refusal(two),
      Equals("my.toml: has 2 nodes and no table [network] that says how they are joined; add "
             "it, or start from a shipped machine: base = \"h200-8x2\""));
  CHECK_THAT(folder.refusal(two + "network = 3\n"),
             Equals("my.toml:4:11: network must be a table: [network]"));
  CHECK_THAT(folder.refusal(two + "[network]\n"),
             StartsWith("my.toml:4:1: network.bandwidth is missing; write for example"));
  CHECK_THAT(folder.refusal(two + "[network]\nlatncy = 3\n"),
             Contains("[network] has no key latncy (did you mean latency?)"));
  CHECK_THAT(folder.refusal("base = \"h200-8\"\n[network]\n"),
             Equals("my.toml:2:1: network joins several nodes and there is one; leave it out or "
                    "write nodes = 2"));
  CHECK_THAT(folder.refusal("base = \"h200-8x2\"\nsource = \"datasheet\"\nnodes = 0\n"),
             Equals("my.toml:3:9: nodes is 0; it must be more than 0"));
  CHECK(folder
            .refusal(two + "[network]\nbandwidth = { value = 100, unit = \"GB/s\" }\nadapters = 4\n"
                           "latency = { value = 3, unit = \"us\" }\n")
            .empty());
}
