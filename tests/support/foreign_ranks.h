// Files of ranks as PyTorch's profiler would have written them, made from those of our own writer.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"

namespace trainscope::test {
namespace foreign {

using Json = nlohmann::json;

inline bool is_wait(const Json& event) {
  return event.value("name", "").starts_with("waits for rank ");
}

inline std::pair<Json, Json> place_of(const Json& event) {
  return {event["tid"], event["args"]["correlation"]};
}

inline void forget_own(Json& args) {
  for (auto field = args.begin(); field != args.end();)
    field = field.key().starts_with("Trainscope") || field.key() == "Seq" ? args.erase(field)
                                                                          : std::next(field);
}

inline Json as_foreign(Json file, double clock) {
  std::map<std::pair<Json, Json>, double> begun;
  for (const Json& event : file["traceEvents"])
    if (is_wait(event)) begun[place_of(event)] = event["ts"];
  Json events = Json::array();
  for (Json& event : file["traceEvents"]) {
    if (is_wait(event)) continue;
    if (event.contains("args") && event["args"].contains("Collective name"))
      if (const auto wait = begun.find(place_of(event)); wait != begun.end()) {
        event["dur"] = event["dur"].get<double>() + event["ts"].get<double>() - wait->second;
        event["ts"] = wait->second;
      }
    if (event.contains("args")) forget_own(event["args"]);
    if (event.contains("ts")) event["ts"] = event["ts"].get<double>() + clock;
    events.push_back(std::move(event));
  }
  file["traceEvents"] = std::move(events);
  file.erase("trainscope");
  return file;
}

}  // namespace foreign

// Of each rank_N.json in `from` one in `to` without what only our writer tells: a collective begins
// when its rank comes to it, nothing numbers it, and each rank's clock is `clocks` us ahead.
inline void write_foreign_ranks(const std::filesystem::path& from, const std::filesystem::path& to,
                                const std::vector<double>& clocks) {
  make_folder(to);
  for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
    const std::string name = "rank_" + std::to_string(rank) + ".json";
    constexpr std::size_t kMost = std::size_t{1} << 30;
    const auto text =
        foreign::as_foreign(nlohmann::json::parse(read_file(from / name, kMost)), clocks[rank]);
    write_file(to / name, text.dump());
  }
}

}  // namespace trainscope::test
