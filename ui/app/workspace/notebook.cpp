#include "ui/app/workspace/notebook.h"

#include <algorithm>

namespace trainscope::ui {
namespace {

// One line without blanks at its ends, of at most so many bytes of whole letters.
std::string tidied(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  if (text.size() > analysis::kLongestNote) {
    std::size_t end = analysis::kLongestNote;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
  }
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::string identity_of(const analysis::Run& run) {
  const trace::Origin& origin = run.trace->origin();
  std::string words = std::string(trace::badge(origin.kind)) + '\n' + origin.subject + '\n' +
                      origin.detail + '\n' + std::to_string(run.trace->spans().size()) + '\n' +
                      std::to_string(run.trace->end());
  for (const auto& [knob, value] : run.config.values())
    words += '\n' + knob + '=' + program::show(program::find_knob(knob), value);
  return words;
}

const Notebook::Notes& Notebook::of(const analysis::Run& run) const {
  static const Notes none;
  const auto page = pages_.find(identity_of(run));
  return page == pages_.end() ? none : page->second;
}

void Notebook::take_over(const analysis::Run& run) {
  for (const analysis::RunNote& note : run.notes) add(run, note);
}

std::optional<std::size_t> Notebook::add(const analysis::Run& run, analysis::RunNote note) {
  note.text = tidied(std::move(note.text));
  if (note.text.empty() || note.lane >= run.trace->lanes().size()) return std::nullopt;
  Notes& notes = pages_[identity_of(run)];
  const auto place = [&] { return std::find(notes.begin(), notes.end(), note); };
  if (place() == notes.end()) notes.push_back(note);
  analysis::sort_notes(notes);
  return static_cast<std::size_t>(place() - notes.begin());
}

std::optional<std::size_t> Notebook::change(const analysis::Run& run, std::size_t at,
                                            std::string text) {
  const Notes& notes = of(run);
  if (at >= notes.size()) return std::nullopt;
  analysis::RunNote note = notes[at];
  note.text = std::move(text);
  remove(run, at);
  return add(run, std::move(note));
}

void Notebook::remove(const analysis::Run& run, std::size_t at) {
  const auto page = pages_.find(identity_of(run));
  if (page == pages_.end() || at >= page->second.size()) return;
  page->second.erase(page->second.begin() + static_cast<std::ptrdiff_t>(at));
}

RunPointer Notebook::with_notes(const RunPointer& run) const {
  const Notes& notes = of(*run);
  if (notes == run->notes) return run;
  auto copy = std::make_shared<analysis::Run>(*run);
  copy->notes = notes;
  return copy;
}

}  // namespace trainscope::ui
