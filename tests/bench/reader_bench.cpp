// How fast Chrome-trace JSON in memory becomes a trace, beside simdjson on the same bytes: on the
// recorded traces, where they are, and on 200 MB that our own writer makes. Each run has a parser
// of its own, since a reader is used once per file; "kept" is simdjson with a parser whose buffers
// are there already.
#include <fmt/format.h>
#include <simdjson.h>

#include <sstream>
#include <string>

#include "bench/bench.h"
#include "support/traces.h"
#include "trace/chrome_reader.h"
#include "trace/chrome_writer.h"

namespace trainscope::bench {
namespace {

using namespace trace;

std::uint64_t sink = 0;  // so that no work is optimised away

// What any reader must do at the least: look at each name, category and time.
void bare_pass(simdjson::ondemand::parser& parser, simdjson::padded_string_view text) {
  auto document = parser.iterate(text);
  for (auto field : document.get_object()) {
    if (field.key() != "traceEvents") continue;
    for (auto event : field.value().get_array()) {
      for (auto entry : event.get_object()) {
        const auto key = entry.key().value();
        std::string_view word;
        double number = 0;
        if ((key == "name" || key == "cat") && !entry.value().get_string().get(word))
          sink += word.size();
        else if ((key == "ts" || key == "dur") && !entry.value().get_double().get(number))
          sink += static_cast<std::uint64_t>(number);
      }
    }
  }
}

void dom_pass(simdjson::padded_string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  sink += parser.parse(text.data(), text.size(), false).get(root) ? 1 : 0;
}

void compare(const std::string& name, const PaddedBytes& json) {
  constexpr int kRuns = 11;
  const std::string_view text = json.text();
  const simdjson::padded_string_view padded(text.data(), text.size(),
                                            text.size() + PaddedBytes::kPadding);
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  fmt::print("  {}: {:.1f} MB\n", name, megabytes);
  Timing reader;
  const auto row = [&](const char* method, const auto& work) {
    const Timing timing = time_of(kRuns, work);
    if (reader.median == 0) reader = timing;
    fmt::print("    {:<15} {:5.0f} MB/s median, {:5.0f} MB/s best", method,
               megabytes / timing.median, megabytes / timing.best);
    if (std::string_view(method) == "reader") {
      fmt::print("\n");
    } else {
      fmt::print("; the reader has {:.2f} of it\n", timing.median / reader.median);
    }
  };
  simdjson::ondemand::parser kept;
  row("reader", [&] { sink += read_chrome_trace(name, json)->spans().size(); });
  row("bare on-demand", [&] {
    simdjson::ondemand::parser parser;
    bare_pass(parser, padded);
  });
  row("bare, kept", [&] { bare_pass(kept, padded); });
  row("DOM", [&] { dom_pass(padded); });
}

// Launches and kernels as a simulated run has them.
std::string synthetic(std::size_t bytes) {
  Trace trace(Origin{OriginKind::kSimulated, "bench", "", 0});
  const LaneId host = trace.add_lane({"host", LaneKind::kHostThread, 0, -1, 100, 100, "rank 0"});
  const LaneId stream = trace.add_lane({"stream 7", LaneKind::kStream, 0, 0, 0, 7, "GPU 0"});
  constexpr std::size_t kBytesAPair = 1000;
  for (std::uint32_t i = 1; i <= bytes / kBytesAPair; ++i) {
    Span span;
    span.start = std::int64_t{20'000} * i + i * 7 % 1000;
    span.duration = 3'000 + i % 977;
    span.correlation = i;
    span.lane = host;
    span.name = trace.intern("cudaLaunchKernel");
    span.category = Category::kHostApi;
    const SpanId launch = trace.add_span(span);
    span.start += 9'000;
    span.lane = stream;
    span.name = trace.intern(fmt::format("void layer_{}_kernel<float, 4>(float const*)", i % 60));
    span.category = Category::kForward;
    span.cause = Cause::kLaunch;
    span.cause_span = launch;
    span.detail = trace.add_detail(KernelDetail{});
    trace.add_flow({launch, trace.add_span(span), FlowKind::kLaunch});
  }
  std::ostringstream out;
  write_chrome_trace(trace, out);
  return std::move(out).str();
}

}  // namespace

void bench_reader() {
  fmt::print("\nreader: Chrome-trace JSON in memory to spans\n");
  if (test::real_traces_present()) {
    for (const char* name : {"ddp-a100-2ranks", "resnet50-v100-2021-schema"})
      compare(name, load_text(test::real_traces_folder() / (std::string(name) + ".json.gz")));
  } else {
    fmt::print("  no recorded traces on this machine\n");
  }
  compare("synthetic", PaddedBytes(synthetic(200'000'000)));
  if (sink == 0) fmt::print("  nothing was read\n");
}

}  // namespace trainscope::bench
