#include "cuda/process_place.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>

#include "base/error.h"

namespace trainscope::cuda {
namespace {

using LookUp = std::function<const char*(const char*)>;

constexpr int kMostRanks = 1'000'000;
constexpr int kMostPort = 65'535;

// A variable that must be there because `reason` is.
std::string companion(const LookUp& look_up, const char* name, const char* reason) {
  const char* value = look_up(name);
  if (!value)
    throw InputError(fmt::format(
        "{} is set in the environment but {} is not; start all ranks with torchrun or srun, or "
        "unset {} to run alone",
        reason, name, reason));
  if (!*value) throw InputError(fmt::format("{} is set in the environment but empty", name));
  return value;
}

std::int64_t number(const char* name, const std::string& text, std::int64_t low,
                    std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong == std::errc() && end == text.data() + text.size() && value >= low && value <= high)
    return value;
  throw InputError(fmt::format("{} is \"{}\" in the environment, not a whole number from {} to {}",
                               name, text, low, high));
}

int number(const LookUp& look_up, const char* name, const char* reason, int low, int high) {
  return static_cast<int>(number(name, companion(look_up, name, reason), low, high));
}

ProcessPlace place_of_torchrun(const LookUp& look_up) {
  ProcessPlace place;
  place.ranks = number(look_up, "WORLD_SIZE", "RANK", 1, kMostRanks);
  place.rank = number(look_up, "RANK", "RANK", 0, place.ranks - 1);
  const int here = look_up("LOCAL_WORLD_SIZE")
                       ? number(look_up, "LOCAL_WORLD_SIZE", "RANK", 1, place.ranks)
                       : place.ranks;
  place.local_rank = number(look_up, "LOCAL_RANK", "RANK", 0, here - 1);
  place.master = companion(look_up, "MASTER_ADDR", "RANK");
  const char* agent = look_up("TORCHELASTIC_USE_AGENT_STORE");
  const int beside = agent && std::string_view(agent) == "True" ? 1 : 0;
  place.port = number(look_up, "MASTER_PORT", "RANK", 1, kMostPort - beside) + beside;
  return place;
}

std::string master_of_slurm(const LookUp& look_up) {
  if (look_up("MASTER_ADDR")) return companion(look_up, "MASTER_ADDR", "SLURM_PROCID");
  const char* name = "SLURM_NODELIST";
  for (const char* other : {"SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_STEP_NODELIST"})
    if (look_up(other)) name = other;
  const std::string list = companion(look_up, name, "SLURM_PROCID");
  const std::optional<std::string> host = first_host(list);
  if (!host)
    throw InputError(fmt::format(
        "{} is \"{}\" in the environment, not a list of nodes like node[01-03,7]; set MASTER_ADDR "
        "to the host of rank 0 instead",
        name, list));
  return *host;
}

int port_of_slurm(const LookUp& look_up) {
  if (look_up("MASTER_PORT")) return number(look_up, "MASTER_PORT", "SLURM_PROCID", 1, kMostPort);
  const std::int64_t job =
      number("SLURM_JOB_ID", companion(look_up, "SLURM_JOB_ID", "SLURM_PROCID"), 0,
             std::numeric_limits<std::uint32_t>::max());
  return static_cast<int>(15'000 + job % 10'000);
}

std::optional<ProcessPlace> place_of_slurm(const LookUp& look_up) {
  const char* task = look_up("SLURM_PROCID");
  if (!look_up("SLURM_NTASKS") && std::string_view(task) == "0") return std::nullopt;
  ProcessPlace place;
  place.ranks = number(look_up, "SLURM_NTASKS", "SLURM_PROCID", 1, kMostRanks);
  if (place.ranks == 1) {
    place.master = "127.0.0.1";
    return place;
  }
  place.rank = number(look_up, "SLURM_PROCID", "SLURM_PROCID", 0, place.ranks - 1);
  place.local_rank = number(look_up, "SLURM_LOCALID", "SLURM_PROCID", 0, place.ranks - 1);
  place.master = master_of_slurm(look_up);
  place.port = port_of_slurm(look_up);
  return place;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_host_letter(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_';
}

// "01-03,7" is 01; empty where it is something else.
std::string_view first_number(std::string_view ranges) {
  std::size_t digits = 0;
  while (digits < ranges.size() && is_digit(ranges[digits])) ++digits;
  const bool ends = digits == ranges.size() || ranges[digits] == '-' || ranges[digits] == ',';
  return ends ? ranges.substr(0, digits) : std::string_view();
}

}  // namespace

std::optional<std::string> first_host(std::string_view list) {
  std::string host;
  for (std::size_t at = 0; at < list.size() && list[at] != ',' && list[at] != ' '; ++at) {
    if (is_host_letter(list[at])) {
      host += list[at];
      continue;
    }
    const std::size_t close = list.find(']', at);
    if (list[at] != '[' || close == std::string_view::npos) return std::nullopt;
    const std::string_view number = first_number(list.substr(at + 1, close - at - 1));
    if (number.empty()) return std::nullopt;
    host += number;
    at = close;
  }
  if (host.empty()) return std::nullopt;
  return host;
}

std::optional<ProcessPlace> process_place(const LookUp& look_up) {
  if (look_up("RANK")) return place_of_torchrun(look_up);
  if (look_up("SLURM_PROCID")) return place_of_slurm(look_up);
  return std::nullopt;
}

}  // namespace trainscope::cuda
