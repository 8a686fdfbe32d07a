#include "report/sm_chart.h"

#include <algorithm>

#include "analysis/views/placed_kernels.h"
#include "base/text.h"
#include "report/chart.h"
#include "report/escape.h"
#include "report/sections.h"
#include "sim/block_cost.h"
#include "sim/wave_rows.h"
#include "trace/short_name.h"

namespace trainscope::report {
namespace {

using sim::WaveRows;

// In units of the drawing.
constexpr double kLeft = 84, kRight = kNarrowChart - 20, kTall = 120, kTitle = 26, kAxis = 26;
constexpr double kLeastWave = 3;  // thinner ones are drawn as one body
constexpr double kLeastRow = 4;   // so that one SM of many is seen
constexpr double kLetter = 6.6;   // a wide estimate of one letter's width

struct Side {
  std::size_t run = 0;  // of the views
  analysis::LongestPlaced kernel;
  const program::Operation* operation = nullptr;
  machine::LaunchShape shape;
  sim::SmRun sms;
  std::vector<WaveRows> last;  // last_wave_rows(sms)
};

std::vector<Side> sides_of(const std::vector<RunView>& views) {
  std::vector<Side> sides;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const analysis::Run& run = *views[i].run;
    if (!run.machine) continue;
    const auto longest = analysis::longest_placed(run);
    if (!longest) continue;
    const program::Operation& operation = run.program->operations[longest->operation];
    Side side{i,
              *longest,
              &operation,
              sim::launch_shape(operation, run.machine->gpu),
              sim::run_alone(operation, run.machine->gpu),
              {}};
    if (side.sms.waves == 0) continue;
    side.last = sim::last_wave_rows(side.sms);
    sides.push_back(std::move(side));
  }
  return sides;
}

std::string whole(std::int64_t count) {
  return std::to_string(count);
}

// Where the bars of a raster stand.
struct Box {
  double left = 0, right = 0, top = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

std::string box_svg(const Box& box, std::string_view kind) {
  return rect_svg(box.left, box.top, box.width(), box.height(), kind);
}

// Where there is room for it.
std::string words_in(const Box& box, const std::string& kind, const std::string& words) {
  if (static_cast<double>(words.size()) * kLetter + 12 > box.width() || box.height() < 14)
    return "";
  return text_svg((box.left + box.right) / 2, (box.top + box.bottom) / 2 + 4, kind, "middle",
                  words);
}

// Waves alternate, so that they are told apart where no line has room.
std::string wave_class(std::int64_t wave) {
  return wave % 2 == 0 ? "host-work" : "other";
}
std::string wave_fill(std::int64_t wave) {
  return "b-" + wave_class(wave);
}
std::string wave_text(std::int64_t wave) {
  return "t-" + wave_class(wave);
}

// Of SMs that have no block while others of the kernel do.
std::string tail_pattern() {
  return "<defs><pattern id=\"hatch-tail\" width=\"6\" height=\"6\" "
         "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
         "<rect width=\"6\" height=\"6\" class=\"f-held\"/>"
         "<rect width=\"1.2\" height=\"6\" class=\"h-held\"/></pattern></defs>\n";
}

class Raster {
 public:
  Raster(const sim::SmRun& run, const std::vector<WaveRows>& last, const Scale& x, double top,
         const Speech& speech)
      : run_(run), last_(last), x_(x), top_(top), speech_(speech) {}

  std::string svg() const { return full_waves() + last_wave() + rest() + sm_names(); }

 private:
  double x_of(Nanos time) const { return x_.at(static_cast<double>(time)); }
  double y_of(int sm) const { return top_ + kTall * sm / run_.sms; }

  std::string sm_names() const {
    std::string svg = text_svg(kLeft - 8, top_ + 11, "axis", "end", "SM 0");
    if (run_.sms > 1)
      svg += text_svg(kLeft - 8, top_ + kTall, "axis", "end", "SM " + whole(run_.sms - 1));
    return svg;
  }

  std::string full_waves() const {
    const std::int64_t full = run_.waves - 1;
    if (full == 0) return "";
    if (x_of(run_.full_wave) - x_of(0) < kLeastWave) return folded(full);
    std::string svg;
    for (std::int64_t i = 0; i < full; ++i) {
      const sim::Wave wave = run_.wave(i);
      const Box box{x_of(wave.start), std::max(x_of(wave.end) - 1, x_of(wave.start) + 1), top_,
                    top_ + kTall};
      svg += box_svg(box, wave_fill(i)) +
             words_in(box, wave_text(i), told(speech_, "wave {}", whole(i + 1)));
    }
    return svg;
  }

  std::string folded(std::int64_t full) const {
    const Box box{x_of(0), x_of(run_.wave(full - 1).end), top_, top_ + kTall};
    return box_svg(box, wave_fill(0)) +
           words_in(box, wave_text(0), told(speech_, "{} full waves", whole(full)));
  }

  // SMs with less than half of the blocks that fit are paler; those with none, and the wait for the
  // last, framed.
  std::string last_wave() const {
    std::string svg;
    Box idle{}, busy{};
    for (const WaveRows& row : last_)
      if (row.end < run_.duration) add_idle(row, svg, idle);
    for (const WaveRows& row : last_)  // over them: a short row is drawn taller than it is
      if (row.blocks > 0) add_blocks(row, svg, busy);
    svg += words_in(busy, wave_text(run_.waves - 1), told(speech_, "wave {}", whole(run_.waves)));
    if (const int count = sim::idle_sms(last_); count > 0)
      svg +=
          words_in(idle, "halo",
                   told(speech_, run_.waves > 1 ? "tail: {} of {} SMs idle" : "{} of {} SMs idle",
                        whole(count), whole(run_.sms)));
    return svg;
  }

  // From the last block's end to the kernel's, whose start and end take their time.
  std::string rest() const {
    if (run_.kernel <= run_.duration) return "";
    const Box box{x_of(run_.duration), x_of(run_.kernel), top_, top_ + kTall};
    return box_svg(box, "no-block") + words_in(box, "halo", speech_.say("no block: start and end"));
  }

  void add_idle(const WaveRows& row, std::string& svg, Box& tallest) const {
    const Box box{x_of(row.end), x_of(run_.duration), y_of(row.first_sm),
                  y_of(row.first_sm + row.sms)};
    // An SM that never had a block waits for no other.
    svg += box_svg(box, run_.waves == 1 && row.blocks == 0 ? "no-block" : "tail");
    if (box.height() > tallest.height()) tallest = box;
  }

  void add_blocks(const WaveRows& row, std::string& svg, Box& tallest) const {
    const sim::Wave wave = run_.wave(run_.waves - 1);
    Box box{x_of(wave.start), x_of(row.end), y_of(row.first_sm), y_of(row.first_sm + row.sms)};
    const bool thin = box.height() < kLeastRow;
    box.bottom = std::max(box.bottom, std::min(box.top + kLeastRow, top_ + kTall));
    box.top = std::min(box.top, box.bottom - kLeastRow);
    const bool pale = 2 * row.blocks < run_.occupancy.blocks_per_sm;
    svg += box_svg(box, thin ? "thin" : wave_fill(run_.waves - 1) + (pale ? " pale" : ""));
    if (box.height() > tallest.height()) tallest = box;
  }

  const sim::SmRun& run_;
  const std::vector<WaveRows>& last_;
  const Scale& x_;
  double top_;
  const Speech& speech_;
};

std::string rasters_html(const std::vector<RunView>& views, const std::vector<Side>& sides,
                         const Speech& speech) {
  Nanos longest = 1;
  for (const Side& side : sides) longest = std::max(longest, side.sms.kernel);
  const Scale x{0, static_cast<double>(longest), kLeft, kRight};
  std::string svg = tail_pattern();
  double top = 0;
  for (const Side& side : sides) {
    const std::string name = trace::short_name(side.operation->kernel);
    const std::string mark = views.size() > 1 ? views[side.run].run->label + "  " : "";
    svg += text_svg(12, top + 17, "strong", "start", mark + name);
    svg += Raster(side.sms, side.last, x, top + kTitle, speech).svg();
    top += kTitle + kTall + 6;
  }
  return drawing_html(kNarrowChart, top + kAxis, speech.say("Blocks on SMs over time, by wave"),
                      time_axis_svg(x, kTitle, top, speech) + svg);
}

std::string limiters(const machine::Occupancy& occupancy, const Speech& speech) {
  if (occupancy.blocks_per_sm == 0) return speech.say("does not fit an SM");
  std::string words;
  for (const machine::Limiter limiter : occupancy.limiters)
    add_to_list(words, speech.say(machine::name_of(limiter)));
  return words;
}

std::string last_words(const sim::SmRun& run, const Speech& speech) {
  const std::string words =
      told(speech, "{} of {}", whole(run.wave(run.waves - 1).blocks), whole(run.blocks_a_wave));
  const sim::Fullest fullest = sim::fullest_sms(run);
  if (fullest.sms == 0) return words;
  return words + told(speech,
                      fullest.sms == 1 ? "; 1 SM of {1} has {2}, the others have {3}"
                                       : "; {0} SMs of {1} have {2}, the others have {3}",
                      fullest.sms, run.sms, fullest.blocks, fullest.blocks - 1);
}

std::vector<std::string> figures_of(const Side& side, const Speech& speech) {
  const sim::SmRun& run = side.sms;
  const auto shared = static_cast<double>(side.shape.static_shared + side.shape.dynamic_shared);
  return {whole(run.blocks),
          whole(side.shape.threads),
          whole(side.shape.registers),
          bytes_words(speech, shared),
          whole(run.occupancy.blocks_per_sm),
          limiters(run.occupancy, speech),
          share_words(speech, run.occupancy.theoretical),
          whole(run.waves),
          last_words(run, speech),
          share_words(speech, run.tail_idle)};
}

// SMs that get no block of the only wave are idle; a tail follows a wave.
const char* idle_name(const std::vector<Side>& sides) {
  const bool tails = std::ranges::all_of(sides, [](const Side& one) { return one.sms.waves > 1; });
  return tails ? "SM time idle in the tail" : "SM time idle";
}

std::string occupancy_html(const std::vector<RunView>& views, const std::vector<Side>& sides,
                           const Speech& speech) {
  std::vector<FigureRow> rows;
  for (const char* name :
       {"blocks", "threads per block", "registers per thread", "shared memory", "blocks per SM",
        "limited by", "occupancy", "waves", "blocks in the last wave", idle_name(sides)})
    rows.push_back({speech.say(name), {}});
  std::vector<std::size_t> runs;
  for (const Side& side : sides) {
    runs.push_back(side.run);
    const std::vector<std::string> values = figures_of(side, speech);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].values.push_back(values[i]);
  }
  return figures_html(speech.say("Occupancy"), heads_of(views, runs), rows);
}

// Which kernel it is, and why that one.
std::string why_words(const Side& side, const Speech& speech) {
  return told(speech,
              "{}: of the kernels that are placed block by block the one that takes the most GPU "
              "time, {} of {} ({} launches). Drawn are the blocks of one launch, alone on the GPU.",
              side.operation->kernel, time_words(speech, static_cast<double>(side.kernel.time)),
              time_words(speech, static_cast<double>(side.kernel.of_all)), side.kernel.launches);
}

// What is drawn is the model's, whatever the runs are.
std::string badge(const std::vector<RunView>& views, const std::vector<Side>& sides,
                  const Speech& speech) {
  std::vector<std::string> gpus;
  for (const Side& side : sides)
    if (const std::string& name = views[side.run].run->machine->gpu.name;
        std::ranges::find(gpus, name) == gpus.end())
      gpus.push_back(name);
  return html_text(fmt::format("{}", fmt::join(gpus, ", "))) + " " +
         badge_html(trace::OriginKind::kSimulated, speech);
}

}  // namespace

std::string sm_html(const std::vector<RunView>& views, const Speech& speech) {
  const std::vector<Side> sides = sides_of(views);
  if (sides.empty()) return "";
  std::string words;
  for (const Side& side : sides) words += run_words_html(views, side.run, why_words(side, speech));
  return view_html({"sms", speech.say("SM waves and occupancy"), badge(views, sides, speech),
                    "<div class=\"beside\"><div>" + rasters_html(views, sides, speech) + words +
                        "</div><div class=\"tables\">" + occupancy_html(views, sides, speech) +
                        "</div></div>\n"});
}

}  // namespace trainscope::report
