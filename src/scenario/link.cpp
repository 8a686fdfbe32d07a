#include "scenario/link.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

#include "base/error.h"
#include "base/percent.h"

namespace trainscope::scenario {
namespace {

constexpr std::string_view kFormat = "1";
constexpr std::size_t kMostLetters = 8192;

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) || std::string_view("-._~:,/").find(letter) != std::string_view::npos)
      out += letter;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

[[noreturn]] void refuse(const std::string& why) {
  throw InputError("the link " + why);
}

std::string decoded(std::string_view text) {
  return percent_decoded(text, "the link");
}

void set_once(program::Config& config, std::string_view side, const std::string& assignment) {
  program::Config one;
  try {
    one.set_text(assignment);
  } catch (const InputError& error) {
    refuse(std::string("sets what cannot be set: ") + error.what());
  }
  const std::string& name = one.values().begin()->first;
  if (config.is_set(name)) refuse(fmt::format("sets {}{} twice; give it once", side, name));
  config.override_with(one);
}

std::size_t step_of(const std::string& text) {
  std::size_t step = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, step);
  if (error != std::errc{} || rest != end || step == 0)
    refuse("has step=" + text + "; steps count from 1");
  return step;
}

// One "key=value" of it. Knobs of both sides are put beneath those of one in the end.
void take(const std::string& key, const std::string& value, Link& link, program::Config& both) {
  if (key == "lesson") {
    if (!link.lesson.empty()) refuse("names two lessons; give one");
    link.lesson = value;
  } else if (key == "step") {
    if (link.step != 0) refuse("names two steps; give one");
    link.step = step_of(value);
  } else if (key.starts_with("A.")) {
    set_once(link.knobs.a, "A.", key.substr(2) + "=" + value);
  } else if (key.starts_with("B.")) {
    set_once(link.knobs.b, "B.", key.substr(2) + "=" + value);
  } else {
    set_once(both, "", key + "=" + value);
  }
}

// What both sides set alike stands once.
void append_knobs(std::string& out, const TurnedKnobs& knobs) {
  const auto append = [&](std::string_view side, const std::string& name,
                          const program::Value& value) {
    out += fmt::format("&{}{}={}", side, name, percent_encoded(program::spell(value)));
  };
  const auto shared = [](const program::Config& other, const auto& one) {
    return other.is_set(one.first) && other.value(one.first) == one.second;
  };
  for (const auto& one : knobs.a.values())
    append(shared(knobs.b, one) ? "" : "A.", one.first, one.second);
  for (const auto& one : knobs.b.values())
    if (!shared(knobs.a, one)) append("B.", one.first, one.second);
}

}  // namespace

std::string write_link(const Link& link) {
  std::string told;
  if (!link.lesson.empty()) told += "&lesson=" + percent_encoded(link.lesson);
  if (link.step > 0) told += fmt::format("&step={}", link.step);
  append_knobs(told, link.knobs);
  if (!told.empty()) told.front() = '?';
  return std::string(kLinkBegins) + std::string(kFormat) + told;
}

Link parse_link(std::string_view text) {
  if (text.size() > kMostLetters) refuse(fmt::format("is longer than {} letters", kMostLetters));
  if (!text.starts_with(kLinkBegins)) refuse("does not begin with trainscope:1?");
  text.remove_prefix(kLinkBegins.size());
  const std::size_t asks = text.find('?');
  if (const std::string_view format = text.substr(0, asks); format != kFormat)
    refuse(
        fmt::format("has the format \"{}\", and this Trainscope reads 1: it comes from a newer "
                    "one, or was cut",
                    format));
  Link link;
  program::Config both;
  text = asks == std::string_view::npos ? "" : text.substr(asks + 1);
  while (!text.empty()) {
    const std::size_t end = text.find('&');
    const std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      refuse(fmt::format("has \"{}\" without a value; write it as name=value", part));
    take(decoded(part.substr(0, equals)), decoded(part.substr(equals + 1)), link, both);
  }
  for (program::Config* side : {&link.knobs.a, &link.knobs.b}) {
    program::Config whole = both;
    whole.override_with(*side);
    *side = std::move(whole);
  }
  return link;
}

std::optional<std::size_t> step_in(const Link& link, const Lesson& lesson) {
  if (link.step == 0) return std::nullopt;
  if (link.step > lesson.steps.size())
    refuse(fmt::format("names step {}, and the lesson {} has {}", link.step, lesson.id,
                       lesson.steps.size()));
  return link.step - 1;
}

}  // namespace trainscope::scenario
