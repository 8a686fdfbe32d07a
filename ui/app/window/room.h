// How much room the window has for panels: what stands beside what follows from it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace trainscope::ui {

enum class Room : std::uint8_t {
  kWide,   // every panel of a pair has a place of its own
  kClose,  // knobs, code and comparison share one place below the timelines
  kLow,    // the timelines share it too
  kTiny,   // all panels share one place
};
inline constexpr std::array kRooms = {Room::kWide, Room::kClose, Room::kLow, Room::kTiny};

constexpr std::string_view name_of(Room room) {
  constexpr std::string_view kNames[] = {"wide", "close", "low", "tiny"};
  return kNames[static_cast<std::size_t>(room)];
}

}  // namespace trainscope::ui
