#include "scenario/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "analysis/runs/run.h"
#include "base/suggest.h"
#include "base/toml.h"
#include "machine/machine.h"
#include "program/idle_knobs.h"
#include "scenario/check_cards.h"
#include "scenario/check_solution.h"
#include "scenario/check_span.h"
#include "scenario/check_sweep.h"
#include "scenario/course.h"
#include "scenario/expected.h"
#include "scenario/findings.h"
#include "scenario/place_in_file.h"
#include "scenario/progress.h"
#include "scenario/sentences.h"
#include "scenario/where_it_runs.h"
#include "train/build.h"

namespace trainscope::scenario {
namespace {

// Of both sides of one lesson: simulating the spans and computing the numbers take about a second
// of a core each. Counted, not timed: a lesson must not pass on one laptop and fail on another.
constexpr std::size_t kMostSpans = 400'000;
constexpr double kMostFlops = 4e10;

// What the processor computes beside the simulator; 0 where only times are simulated.
double flops_computed(const analysis::Run& run) {
  if (run.program->timing_only) return 0;
  double flops = 0;
  for (std::uint32_t i = 0, count = run.trace->spans().size(); i < count; ++i) {
    const trace::Detail* detail = run.trace->detail(run.trace->spans()[i]);
    const auto* kernel = detail ? std::get_if<trace::KernelDetail>(detail) : nullptr;
    if (kernel) flops += kernel->flops;
  }
  return flops;
}

class Checker {
 public:
  explicit Checker(const Lesson& lesson) : lesson_(lesson), file_(lesson.file) {}

  std::vector<Finding> check() {
    findings_.add_all(check_cards(lesson_));
    check_track();
    check_required();
    check_idle();
    const std::vector<std::string> all = machines();
    check_on(all.front());
    if (where_it_runs_.everywhere()) {  // else what is wrong is told once
      for (std::size_t i = 1; i < all.size(); ++i) check_on(all[i]);
      for (const std::int64_t seed : other_seeds()) check_with(seed);
      check_announcements();
      findings_.add_all(check_sweep(lesson_));
    }
    findings_.add_all(where_it_runs_.findings(lesson_));
    return findings_.take();
  }

 private:
  void add(const SourcePlace& place, const std::string& sentence) {
    findings_.add(place, sentence);
  }
  SourcePlace top() const { return {lesson_.file.string(), 1, 1}; }

  std::string home_machine() const { return lesson_.common.word("machine"); }

  // Beside its own: those that students' runs take, or as many as draw all that there is.
  std::vector<std::int64_t> other_seeds() const {
    std::vector<std::int64_t> seeds = lesson_.seeds;
    const std::int64_t own = lesson_.common.whole("seed");
    const auto draws = static_cast<std::int64_t>(lesson_.draws.size());
    for (std::int64_t i = 1; i <= draws && lesson_.seeds.empty(); ++i) seeds.push_back(own + i);
    std::erase(seeds, own);
    return seeds;
  }

  // The lesson's own machine first.
  std::vector<std::string> machines() const {
    std::vector<std::string> all{home_machine()};
    if (compares_machines(lesson_)) return all;
    for (const std::string& id :
         lesson_.machines.empty() ? machine::machine_ids() : lesson_.machines)
      if (id != all.front()) all.push_back(id);
    return all;
  }

  // Another name is one's own track, under which the shelf shows the lesson.
  void check_track() {
    const std::string& track = lesson_.track;
    const bool numbered = track.size() > 1 && track.front() == 'T' &&
                          track.find_first_not_of("0123456789", 1) == track.npos;
    if (numbered && title_of_track(track) == track)
      add(lesson_.place_of("track"),
          "there is no track " + track +
              "; write one of T0 to T5, or a name of your own, under which the shelf shows it");
  }

  // What the sides are to differ in, and do not, because of another knob.
  void check_idle() {
    std::set<std::string> names;
    for (const program::Config* side : {&lesson_.side_a, &lesson_.side_b})
      for (const auto& [name, value] : side->values()) names.insert(name);
    const program::Config a = lesson_.side("A"), b = lesson_.side("B");
    for (const std::string& words : program::idle_words({names.begin(), names.end()}, {&a, &b}))
      add(file_.place_of("[config.A]", lesson_.place_of("config")), words);
  }

  void check_required() {
    std::vector<std::string> known;
    for (const Lesson& one : readable_lessons().lessons) known.push_back(one.id);
    const auto is_known = [&](const std::string& id) {
      return std::find(known.begin(), known.end(), id) != known.end() ||
             std::filesystem::exists(lesson_.file.parent_path() / (id + ".toml"));
    };
    for (const std::string& id : lesson_.requires_ids) {
      if (id == lesson_.id)
        add(lesson_.place_of("requires"), "requires names the lesson itself; leave it out");
      if (!is_known(id))
        add(lesson_.place_of("requires"),
            "requires names " + id + ", and there is no such lesson" + did_you_mean(id, known));
    }
  }

  // Panels, and lanes of either side.
  void check_hidden(const Step& step, const Sides& sides) {
    std::vector<std::string> known = panel_names();
    for (const analysis::Run* side : sides)
      for (trace::LaneId lane = 0; lane < side->trace->lanes().size(); ++lane)
        known.push_back(side->trace->lanes()[lane].name);
    for (const std::string& name : step.hide)
      if (std::find(known.begin(), known.end(), name) == known.end())
        add(step.place, "step " + step.id + " hides " + name +
                            ", which is no panel and no lane of its runs" +
                            did_you_mean(name, known));
  }

  void check_on(const std::string& machine) {
    program::Config flags;
    if (!compares_machines(lesson_)) flags.set("machine", machine);
    try {
      const analysis::Run a = analysis::run_config("A", lesson_.side("A", flags));
      const analysis::Run b = analysis::run_config("B", lesson_.side("B", flags));
      const std::size_t mark = findings_.mark();
      check_work({&a, &b}, machine);
      check_runs({&a, &b}, machine);
      check_solutions(lesson_, {&a, &b}, machine, findings_);
      tell_ending({&a, &b}, machine, mark);
      where_it_runs_.runs_on(machine);
    } catch (const Error& error) {
      where_it_runs_.does_not_run_on(machine, error.what());
    }
  }

  // What a run lacks because it ended is missing for one reason, which is told in its place.
  void tell_ending(const Sides& sides, const std::string& where, std::size_t mark,
                   const SourcePlace* place = nullptr) {
    for (const analysis::Run* run : sides) {
      if (!run->ending) continue;
      const std::string why = sim::sentence(*run->ending);
      const SourcePlace* first = findings_.first_with(mark, why);
      if (!first) continue;
      const SourcePlace at = place ? *place : *first;
      findings_.take_back(mark);
      for (auto& [step, by_text] : answers_)
        std::erase_if(by_text, [&](const auto& one) { return one.second == where; });
      findings_.add_on(where, at, run->label + " does not run to its end", ": " + why);
      return;
    }
  }

  // A student whose runs take this seed learns the same.
  void check_with(std::int64_t seed) {
    program::Config flags;
    flags.set("seed", seed);
    const std::string where = home_machine() + " with seed " + std::to_string(seed);
    const SourcePlace place = place_of_seed(seed);
    try {
      const analysis::Run a = analysis::run_config("A", lesson_.side("A", flags));
      const analysis::Run b = analysis::run_config("B", lesson_.side("B", flags));
      const std::size_t mark = findings_.mark();
      check_steps({&a, &b}, where);
      check_expectations({&a, &b}, where);
      check_solutions(lesson_, {&a, &b}, where, findings_);
      tell_ending({&a, &b}, where, mark, &place);
    } catch (const Error& error) {
      findings_.add_on(where, place, "it does not run", std::string(": ") + error.what());
    }
  }

  // Of what it draws, else of the seeds that the lesson lists.
  SourcePlace place_of_seed(std::int64_t seed) const {
    const TurnedKnobs* drawn = lesson_.drawn(seed);
    for (std::size_t i = 0; i < lesson_.draw_places.size(); ++i)
      if (drawn == &lesson_.draws[i]) return lesson_.draw_places[i];
    return lesson_.place_of("seeds");
  }

  void check_work(const Sides& sides, const std::string& machine) {
    std::size_t spans = 0;
    double flops = 0;
    for (const analysis::Run* side : sides) {
      spans += side->trace->spans().size();
      flops += flops_computed(*side);
    }
    if (spans > kMostSpans)
      add(top(), fmt::format("both sides draw {} spans on {}; a lesson draws at most {}, so that "
                             "it runs in about a second: take fewer steps",
                             spans, machine, kMostSpans));
    if (flops > kMostFlops)
      add(top(), fmt::format("both sides compute {:.0f} GFLOP on {}; a lesson computes at most "
                             "{:.0f}, so that it runs in about a second: take a smaller model or "
                             "fewer steps",
                             flops / 1e9, machine, kMostFlops / 1e9));
  }

  void check_steps(const Sides& sides, const std::string& where) {
    for (const Step& step : lesson_.steps) {
      try {
        check_step(step, sides, where);
      } catch (const Error& error) {
        findings_.add_on(where, step.place, "step " + step.id, std::string(": ") + error.what());
      }
    }
  }

  void check_runs(const Sides& sides, const std::string& machine) {
    check_steps(sides, machine);
    check_filled(lesson_.limits, lesson_.place_of("limits"), "limits", machine, sides);
    if (machine != home_machine()) return;
    check_expectations(sides, machine);
    for (const Step& step : lesson_.steps) check_hidden(step, sides);
    for (const Step& step : lesson_.steps) check_keys(step);
    for (std::size_t i = 0; i < run_step(lesson_); ++i) check_known(lesson_.steps[i]);
  }

  // What is read before the run says nothing that only the run knows.
  void check_known(const Step& step) {
    std::array<analysis::Run, 2> configs;
    for (std::size_t i = 0; i < configs.size(); ++i) {
      configs[i].label = i == 0 ? "A" : "B";
      configs[i].config = lesson_.side(configs[i].label);
    }
    std::vector<std::string> texts{step.text, step.hint};
    if (step.question)
      for (const Option& option : step.question->options) texts.push_back(option.text);
    std::erase_if(texts, [](const auto& text) { return unclosed_brace(text) != text.npos; });
    for (const std::string& text : texts)
      for (const std::string& inside : placeholders(text))
        if (fill_in_known("{" + inside + "}", {&configs[0], &configs[1]}) == kBlank)
          add(file_.place_of("{" + inside + "}", step.place),
              "step " + step.id + " is read before the run, and nobody knows {" + inside +
                  "} then; write it without");
  }

  // A report and a handout are read without the window.
  void check_keys(const Step& step) {
    for (const std::string* text : {&step.text, &step.explain})
      for (const char* key : {"Shift+", "Ctrl+"})
        if (without_keys(*text).find(key) != std::string::npos)
          add(step.place, "step " + step.id +
                              " names a key in its sentence; write it in brackets, " +
                              "as (Shift+P), and a page leaves it out");
  }

  // Each placeholder can be told of these runs. One that cannot is told where it stands, and once:
  // on most machines it is the same.
  void check_filled(const std::string& text, const SourcePlace& from, const std::string& what,
                    const std::string& machine, const Sides& sides) {
    if (const std::size_t at = unclosed_brace(text); at != text.npos) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      return add(file_.place_of(line, from), what + ": a brace is not closed: \"" + line + "\"");
    }
    for (const std::string& inside : placeholders(text)) {
      const SourcePlace place = file_.place_of("{" + inside + "}", from);
      try {
        Expression::parse(inside).show(sides);
      } catch (const Error& error) {
        findings_.add_on(machine, place, what + ", {" + inside + "},",
                         std::string(": ") + error.what());
      }
    }
  }
  bool is_first(const SourcePlace& place, const std::string& what) {
    return told_.emplace(place.line, place.column, what).second;
  }

  void check_step(const Step& step, const Sides& sides, const std::string& machine) {
    const auto check_text = [&](const std::string& text, const SourcePlace& from) {
      check_filled(text, from, "step " + step.id, machine, sides);
    };
    for (const std::string* text : {&step.text, &step.explain, &step.hint})
      check_text(*text, step.place);
    if (step.focus) check_focus(*step.focus, sides, machine);
    if (!step.question) return;
    const Question& question = *step.question;
    if (question.span) check_focus(*question.span, sides, machine);
    if (question.answer) question.answer->evaluate(sides);
    int right = 0;
    std::string right_text;
    std::vector<const Option*> right_options;
    for (const Option& option : question.options) {
      check_text(option.text, question.place);
      check_text(option.why, question.place);
      const bool correct = option.correct_when->evaluate(sides).truth();
      right += correct ? 1 : 0;
      if (correct) right_text = option.text;
      if (correct) right_options.push_back(&option);
      if (option.why.empty() && !correct && machine == home_machine())
        add(question.place,
            "step " + step.id + ": the option \"" + option.text + "\" is wrong and has no why");
    }
    if (question.kind == QuestionKind::kChoice && right != 1) {
      if (right == 0)
        for (const Option& option : question.options) right_options.push_back(&option);
      findings_.add_on(machine, question.place,
                       "step " + step.id + " has " + std::to_string(right) + " right options",
                       "; exactly one must be" + evaluated(right_options, sides));
    }
    check_text(question.depends, question.place);
    if (right == 1) answers_[step.id].emplace(right_text, machine);
  }

  // ": "Hardly longer" is 1.48 < 1.1, …": those that are right, or all where none is.
  static std::string evaluated(const std::vector<const Option*>& options, const Sides& sides) {
    std::string words;
    for (const Option* option : options)
      words += (words.empty() ? ": \"" : ", \"") + option->text + "\" is " +
               option->correct_when->evaluated(sides);
    return words;
  }

  // Where machines answer differently, the lesson says what decides.
  void check_announcements() {
    for (const Step& step : lesson_.steps) {
      const auto answers = answers_.find(step.id);
      if (answers == answers_.end()) continue;
      const auto& by_text = answers->second;
      const bool announced = !step.question->depends.empty();
      if (by_text.size() > 1 && !announced) {
        std::string list;
        for (const auto& [text, machine] : by_text)
          list += (list.empty() ? "\"" : ", \"") + text + "\" on " + machine;
        add(step.question->place, "step " + step.id + " has another answer by machine (" + list +
                                      "); say in depends what decides");
      } else if (by_text.size() == 1 && announced) {
        add(step.question->place, "step " + step.id +
                                      " says what the answer depends on, but it is the same on "
                                      "every machine");
      }
    }
  }

  void check_focus(const Focus& focus, const Sides& sides, const std::string& machine) {
    if (focus.run.empty()) return;
    const analysis::Run& run = *sides[focus.run == "A" ? 0 : 1];
    if (!focus.code.empty()) {
      const std::size_t lines = lines_with(focus.code, run.program->listing).size();
      if (lines != 1)
        add(focus.place, "\"" + focus.code + "\" stands on " + std::to_string(lines) +
                             " lines of the listing of " + focus.run + "; name one line");
    }
    if (focus.lane.empty()) return;
    const std::string missing = missing_span(focus, run, machine);
    if (!missing.empty() && is_first(focus.place, focus.lane + focus.span))
      add(focus.place, missing);
    if (focus.line > static_cast<int>(run.program->listing.lines.size()))
      add(focus.place, "the listing has no line " + std::to_string(focus.line));
  }

  void check_expectations(const Sides& sides, const std::string& machine) {
    for (const Expectation& expectation : lesson_.expectations) {
      const Quantity value = expectation.expression.evaluate(sides);
      if (!is_within(value, expectation.sim_min, expectation.sim_max))
        findings_.add_on(machine, expectation.place, "expected " + expectation.expression.text(),
                         ", but it is " + show(value));
    }
  }

  const Lesson& lesson_;
  FileText file_;
  Findings findings_;
  WhereItRuns where_it_runs_;
  // What is not said again of the other machines, by line, column and what it is about.
  std::set<std::tuple<int, int, std::string>> told_;
  // Of each choice, by step: the right options, each with a machine, or seed, by which it is.
  std::map<std::string, std::map<std::string, std::string>> answers_;
};

}  // namespace

std::vector<std::string> check_config_file(const std::filesystem::path& file) {
  std::vector<std::string> faults;
  const program::Config config = load_config(file, faults);
  if (!faults.empty()) return faults;
  try {
    train::build_program(config, train::machine_of(config));
  } catch (const InputError& error) {
    faults.push_back(file.string() + ": " + error.what());
  }
  return faults;
}

void check_claims_file(const std::filesystem::path& file) {
  const toml::table table = read_toml(file);
  for (const auto& [key, node] : table)
    if (!node.is_string() || node.value<std::string>()->empty())
      fail_at(node, file.string(), "claim " + std::string(key.str()) + " is not a sentence");
}

std::vector<Finding> check_lesson(const Lesson& lesson) {
  return Checker(lesson).check();
}

}  // namespace trainscope::scenario
