// Everything wrong that a person may type: one clear sentence, the right exit code, no harm.

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "support/skip.h"

using namespace trainscope::test;

namespace {

void write(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("files that cannot be what they are given as are refused") {
  const Folder folder;
  const std::string empty = folder.file("empty.toml"), twice = folder.file("twice.toml");
  const std::string machine = folder.file("machine.toml"), bytes = folder.file("bytes.toml");
  const std::string large = folder.file("large.toml"), trace = folder.file("t.json");
  write(empty, "");
  write(twice, "workload = \"copy\"\nworkload = \"train\"\n");
  write(machine, "base = \"h200-1\"\n");
  write(bytes, "\xff\xfe");
  write(large, std::string(2'000'000, ' '));
  write(trace, "{\"traceEvents\": []}");
  std::filesystem::create_directory(folder.file("folder.toml"));
  refuses("run " + empty, 2, "empty.toml: sets no knob; write for example");
  refuses("run " + twice, 2, "twice.toml:2:");
  refuses("run " + machine, 2, "machine.toml:1:8: base belongs into a machine or GPU file");
  refuses("run " + bytes, 2, "bytes.toml:1:1: ");
  refuses("run " + large, 2, "more than the 1048576");
  refuses("run " + folder.file("folder.toml"), 2, "is a folder");
  refuses("run " + trace, 2, "`trainscope import " + trace + "` reads a trace");
  refuses("run " + folder.file("none.json"), 2, "there is no such file");
  refuses(folder.file("none.json"), 2, "there is no such file");
  refuses("run /dev/null", 2, "/dev/null");
  CHECK(run("check " + empty).code == 1);
}

TEST_CASE("paths that lead nowhere are refused wherever a file is named") {
  const Folder folder;
  const std::string loop = folder.file("loop");
  const std::string too_long = folder.file(std::string(300, 'A'));
  std::filesystem::create_symlink("loop", loop);
  for (const std::string command :
       {"check ", "grade ", "import ", "", "compare pinned-vs-pageable ",
        "run --set steps=1 --machine ", "machines "})
    for (const std::string& place : {loop, loop + "/x.toml", too_long, too_long + "/x.toml:A"})
      refuses(command + place, 2, "");
  for (const std::string command :
       {"run --set workload=copy --save ", "run --set workload=copy --html ",
        "run --set workload=copy --trace ", "machines --html ", "handout pinned-vs-pageable --out ",
        "sweep --set workload=copy --vary copy.count=1,2 --csv "})
    for (const std::string& place : {loop, too_long}) {
      const bool page = command.find("--html") != command.npos || command.starts_with("handout ");
      const bool run_file = command.find("--save") != command.npos;
      const Result result = run(command + place +
                                (page       ? "/x.html"
                                 : run_file ? "/x.tsrun"
                                            : "/x"));
      INFO(command << place << "\n" << result.err);
      CHECK(result.code == 2);
      CHECK_THAT(result.err, Catch::Contains("cannot be written"));
    }
}

TEST_CASE("machines that cannot be are refused with the line that is wrong") {
  const Folder folder;
  const auto with = [&](const char* name, const std::string& text) {
    write(folder.file(name), text);
    return "run --set workload=copy --machine " + folder.file(name);
  };
  refuses(
      with("zero.toml",
           "base = \"h200-1\"\n[pcie]\nh2d = { value = 0, unit = \"GB/s\", source = \"fitted\", "
           "note = \"n\" }\n"),
      2, "zero.toml:3:17: pcie.h2d is 0 GB/s; it must be more than 0");
  refuses(with("bare.toml", "id = \"bare\"\nname = \"b\"\nsource = \"datasheet\"\n"), 2,
          "names no GPU");
  with("one.toml", "base = \"two.toml\"\n");
  refuses(with("two.toml", "base = \"one.toml\"\n"), 2, "leads back to a file");
  refuses("run --set workload=copy --machine h200-8x3", 2, "did you mean");
}

TEST_CASE("the window refuses to open more than it shows") {
  const Folder folder;
  const std::string config = folder.file("mine.toml");
  write(config, "workload = \"copy\"\n");
  refuses(config + " " + config + " " + config, 2, "two runs beside each other, and these are 3");
  refuses("pinned-vs-pageable " + config, 2, "these are of several kinds; name fewer");
  refuses(
      "pinned-vs-pageable dp-vs-ddp", 2,
      "dp-vs-ddp: the window opens one lesson at a time, and pinned-vs-pageable comes before it");
}

TEST_CASE("a collective that does not fit into a GPU is refused") {
  refuses("run --machine l40s-2 --set workload=collective --set collective.bytes=1TiB", 2,
          "does not fit into a GPU of l40s-2");
}

TEST_CASE("a metric that does not apply is absent") {
  const auto has = [](const std::string& config, const char* metric) {
    const auto one = nlohmann::json::parse(run("run --json --set workload=" + config).out);
    return one["runs"]["A"]["metrics"].contains(metric);
  };
  CHECK(!has("copy", "idle.data"));
  CHECK(!has("gemm", "idle.collective"));
  CHECK(has("train", "idle.data"));
  CHECK(has("collective --machine l40s-2", "idle.collective"));
}

TEST_CASE("a run beyond the clock is refused, not turned into numbers") {
  refuses(
      "run --machine t4-1 --set workload=kernel --set kernel.bytes_per_thread=1e9 --set "
      "kernel.grid=2147483647 --set kernel.block=1024",
      2, "more than three years");
  refuses("run --set loader.sample_ms=1000000 --set batch_size=4194304 --steps 1", 2,
          "set loader.sample_ms or batch_size lower");
}

TEST_CASE("a knob that is given twice, or nothing, is refused") {
  refuses("run --set workload=copy --set workload=train", 2,
          "workload is given twice, as copy and as train; give it once");
  refuses("run --set workload=copy --set steps=3 --steps 4", 2, "steps is given twice");
  refuses("run pinned-vs-pageable --set A.copy.count=1 --set A.copy.count=2", 2, "given twice");
  CHECK(run("run pinned-vs-pageable --set copy.count=1 --set A.copy.count=2").code == 0);
  refuses("run --set ''", 2, "sets nothing");
  refuses("run --set workload=", 2, "is none of");
  for (const char* flag : {"--machine", "--executor", "--steps", "--seed", "--trace", "--save",
                           "--html", "--png", "--series"})
    refuses(std::string("run --set workload=copy ") + flag + " ''", 2, "is empty");
}

TEST_CASE("a flag that is a knob's is enough to run") {
  for (const char* knob : {"--steps 1", "--seed 3", "--machine t4-1"}) {
    const Result result = run(std::string("run --json ") + knob);
    INFO(knob << "\n" << result.err);
    CHECK(result.code == 0);
  }
  CHECK(run("run --steps 1").out == run("run --set steps=1").out);
  refuses("run", 2, "run what?");
  refuses("run --machine h200-2", 2, "h200-2 (did you mean h200-1?)");
  refuses("validate --machine h200-2", 2, "h200-2 (did you mean h200-1?)");
  refuses("calibrate --id 'a b'", 2, "write --id a-b");
}

TEST_CASE("an output ends as its kind does, and so no two are written into one file") {
  const Folder folder;
  const auto copy = [&](const std::string& outputs) {
    return "run --set workload=copy " + outputs + folder.file("x");
  };
  refuses(copy("--html ") + ".tsrun --save " + folder.file("x.tsrun"), 2,
          "x.tsrun does not end in .html; write --html " + folder.file("x.tsrun.html"));
  refuses(copy("--html ") + ".html --svg " + folder.file("x.html"), 2, "does not end in .svg");
  refuses(copy("--png ") + ".json", 2, "does not end in .png");
  refuses(copy("--save "), 2, "does not end in .tsrun");
  for (const char* ending : {".tsrun", ".png", ".svg", ".html", ".toml", ".txt", ".gz"})
    refuses(copy("--trace ") + ending, 2,
            "does not end in .json; write --trace " + folder.file("x") + ending + ".json");
  refuses("import none.json --trace " + folder.file("x.txt"), 2, "does not end in .json");
  refuses("sweep --set workload=copy --vary copy.count=1,2 --csv x.png --png x.png", 2, "--csv");
  refuses("machines --html x.png", 2, "does not end in .html");
  refuses("lessons --png x.html", 2, "does not end in .png");
  CHECK(folder.entries() == 0);
  CHECK(run(copy("--trace ") + " --html " + folder.file("x.htm")).code == 0);
  CHECK(run("run --set workload=copy --html /dev/null --svg /dev/null").code == 0);
  CHECK(folder.entries() == 2);
}

TEST_CASE("numbers that are far too large are refused with what is possible") {
  refuses("run --set workload=train --steps 1000000000", 2, "give a value from 1 to 100000");
  refuses("run --set workload=train --seed 99999999999999999999", 2, "to 9000000000000000");
  refuses("run --set copy.bytes=9999999999999999999999", 2, "is not a size from 1 B to");
  refuses("run --set copy.bytes=1e300", 2, "is not a size from 1 B to");
  refuses("run --set workload=train --steps 1.5", 2, "is not a whole number");
  refuses("run --set workload=train --set loader.sample_ms=nan", 2, "out of range");
}

TEST_CASE("a trace in which there is nothing to show is refused") {
  const Folder folder;
  const std::string trace = folder.file("t.json");
  std::ofstream(trace) << "{\"traceEvents\": []}";
  refuses("import " + trace, 2, "holds nothing that can be shown; record some steps");
}

TEST_CASE("a link to a step that its lesson does not have is refused") {
  refuses("run 'trainscope:1?lesson=sdpa&step=99'", 2, "names step 99, and the lesson sdpa has");
}

TEST_CASE("validating without a GPU tells what can be validated without one") {
  refuses("validate", 3, "validate --published");
}

TEST_CASE("a side that there is not, and one that there is") {
  refuses("run pinned-vs-pageable:C", 2, "has no side C");
  refuses("run --set workload=copy --set B.copy.count=2", 2, "this run has one side");
  refuses("run pinned-vs-pageable:A --set B.copy.count=2", 2,
          "B.copy.count sets a knob of side B, and pinned-vs-pageable:A is side A alone");
  CHECK(run("run pinned-vs-pageable:A --set A.copy.count=2").code == 0);
  const Result result = run("run pinned-vs-pageable:A --json");
  CHECK(result.code == 0);
  CHECK_THAT(result.out, Catch::Contains("\"A\"") && !Catch::Contains("\"B\""));
}

TEST_CASE("an argument with control characters does not reach the terminal") {
  const Result result = run("run \"$(printf 'a\\033[2Jb\\nc')\"");
  CHECK(result.code == 2);
  CHECK_THAT(result.err, Catch::Contains("a\\x1b[2Jb\\nc"));
  CHECK(result.err.find('\x1b') == std::string::npos);
}

TEST_CASE("a slip of the fingers is told from what was meant") {
  refuses("run --jsn", 2, "`trainscope run` has no flag --jsn (did you mean --json?)");
  refuses("sampler --lenght 10", 2, "has no flag --lenght (did you mean --length?)");
  refuses("--presnt", 2, "`trainscope` has no flag --presnt (did you mean --present?)");
  refuses("run --set WORKLOAD=copy", 2, "(did you mean workload?)");
  refuses("run --set steps=1 --machine l4-1 --set host.cores=10", 2,
          "l4-1 has 8 cores; write host.cores = 8 or less");
}

TEST_CASE("a flag of the window before a command is refused, not dropped") {
  refuses("--lang de run pinned-vs-pageable", 2,
          "--lang stands before a command, where it would be the window's; write `trainscope run … "
          "--lang`");
  refuses("--student Bob run pinned-vs-pageable", 2,
          "--student is of the window, and `trainscope run` has no such flag");
  refuses("--theme light knobs", 2, "`trainscope knobs` has no such flag");
}

TEST_CASE("a panel that there is not is answered with those that there are") {
  if (!has_window()) TRAINSCOPE_SKIP("this program was built without its window");
  refuses("run --set workload=copy --png none.png --panel xyzzy", 2, "there are lesson, timeline,");
}

TEST_CASE("what is asked of a picture that is not written is refused") {
  for (const std::string asked : {"--panel memory", "--at 3ms", "--size 800x600", "--theme light",
                                  "--scale 2", "--present", "--action help.tour"}) {
    const std::string flag = asked.substr(0, asked.find(' '));
    const std::string words = flag + " is of a picture; name its file with --png";
    refuses("run --set workload=copy " + asked, 2, words);
    if (flag == "--panel" || flag == "--at" || flag == "--action") continue;
    refuses("sweep --vary batch_size=1,2 " + asked, 2, words);
    refuses("lessons " + asked, 2, words);
  }
}

TEST_CASE("two precisions that contradict each other are refused") {
  const std::string run_with = "run --set steps=1 --set precision=";
  refuses(run_with + "fp16 --set autocast.dtype=bf16", 2,
          "precision = fp16 and autocast.dtype = bf16 contradict each other");
  refuses(run_with + "fp32 --set autocast.dtype=bf16", 2, "contradict each other");
  refuses(run_with + "bf16 --set autocast.dtype=none", 2, "contradict each other");
  CHECK(run(run_with + "bf16 --set autocast.dtype=bf16").code == 0);
  CHECK(run(run_with + "fp16 --set matmul.allow_tf32=true").code == 0);
}

TEST_CASE("a loss that is no number is called diverged, without a sign") {
  const std::string diverging = "run --set data.name=digits --set optimizer.lr=1e6 --steps 12";
  const Result table = run(diverging);
  CHECK(table.code == 0);
  CHECK_THAT(table.out, Catch::Matches("[^]*loss.final +diverged +final loss[^]*"));
  CHECK_THAT(table.out, !Catch::Contains("-nan"));
  CHECK_THAT(run(diverging + " --series loss").out, !Catch::Contains("-nan"));
}

TEST_CASE("a lesson that cannot be read is named, and the others are listed and checked") {
  const Folder home;
  const std::string own = home.file("home");
  std::filesystem::create_directories(own);
  for (const char* part : {"assets", "scenarios"})
    std::filesystem::copy(std::filesystem::path(TRAINSCOPE_SOURCE_DIR) / part,
                          std::filesystem::path(own) / part,
                          std::filesystem::copy_options::recursive);
  std::ofstream(own + "/scenarios/broken.toml") << "format = 1\nid = \"broken\"\ntitel = 3\n";
  const std::string in_home = "TRAINSCOPE_HOME=" + own;
  const Result listed = run_in(in_home, "lessons");
  CHECK(listed.code == 2);
  CHECK_THAT(listed.out, Catch::Contains("pinned-vs-pageable"));
  CHECK_THAT(listed.err, Catch::Contains("broken.toml:3:1"));
  CHECK(std::count(listed.err.begin(), listed.err.end(), '\n') == 1);
  const Result as_json = run_in(in_home, "lessons --json");
  CHECK(as_json.code == 2);
  CHECK_THAT(as_json.out, Catch::Contains("\"pinned-vs-pageable\""));
  const Result checked = run_in(in_home, "check " + own + "/scenarios/time-it-right.toml");
  CHECK(checked.code == 0);
  const Result doctor = run_in(in_home, "doctor");
  CHECK_THAT(doctor.out,
             Catch::Contains("broken.toml:3:1") && Catch::Contains("1 lesson cannot be opened"));
}

TEST_CASE("a series that there is nothing of is an error that says why") {
  const Result result =
      run("run --set workload=train --set model.name=mlp --steps 3 --series loss");
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Catch::Contains("run A has no loss of single steps: only its time is "
                                         "simulated") &&
                             Catch::Contains("data.name = digits"));
}

TEST_CASE("a series of a run that went out of memory says that, and is no mistake") {
  const Result result =
      run("run --set model.name=gpt3-xl --machine t4-1 --set batch_size=64 --series time.step");
  CHECK(result.code == 0);
  CHECK_THAT(result.err, Catch::Contains("memory"));
  CHECK_THAT(result.err, !Catch::Contains("data.name"));
  const Result copies = run("run --set workload=copy --series mfu");
  CHECK(copies.code == 2);
  CHECK_THAT(copies.err, Catch::StartsWith("run A has no mfu of single steps\n"));
}

TEST_CASE("a series of two runs says how to print one") {
  const Result both = run("run pinned-vs-pageable --series time.step");
  CHECK(both.code == 0);
  CHECK_THAT(both.err, Catch::Contains("--series B.time.step prints one run's"));
  const Result one = run("run pinned-vs-pageable --series B.time.step");
  CHECK(one.code == 0);
  CHECK(one.err.find("follow one another") == std::string::npos);
  CHECK(one.out.size() < both.out.size());
}

TEST_CASE("calibrating where no GPU is says that it measures one") {
  const Result result = run("calibrate");
  if (result.code == 0) TRAINSCOPE_SKIP("there is a GPU here");
  CHECK(result.code == 3);
  CHECK_THAT(result.err, Catch::Contains("calibrating measures a GPU of this machine"));
  CHECK(result.err.find("--executor sim") == std::string::npos);
}
