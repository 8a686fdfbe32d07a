// Where the GPUs of a group stand in a picture, with the links that join them and the way that data
// take from one to another. Pure.
//
// One node: two rows with an NVSwitch between them, or with NVLinks from GPU to GPU; one row above
// a tree of PCIe. Two nodes: a row each, with the network between them. Where the wiring is not
// known, or there are too many GPUs to draw their links, or too little room: GPUs alone, each node
// in a frame. Neighbours of the ring stand beside each other. All GPUs are of one size.
#pragma once

#include <string>
#include <vector>

#include "machine/topology.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

struct GpuMap {
  struct Gpu {
    int number = 0;
    Box box;
  };
  // Something that several links meet at: a switch, a host bridge, the network.
  struct Hub {
    std::vector<std::string> names;  // the longest first
    Box box;
    float way = 0;  // the height between the two directions of what crosses it
    Box words;      // for its name, clear of what travels; no height: no room
  };
  // GPUs of one node, where links are not shown.
  struct Node {
    int number = 0;
    Box frame;
    Box words;  // for its name; no height: no room
  };
  struct Line {
    std::vector<ImVec2> points;
    machine::WireKind kind = machine::WireKind::kNvlink;
    int links = 1;  // NVLinks side by side
  };
  std::vector<Gpu> gpus;  // by number
  std::vector<int> ring;  // numbers, in the order of the ring
  std::vector<Hub> hubs;
  std::vector<Line> lines;
  std::vector<Node> nodes;  // none: there is one, or their links are shown
  bool shows_links = false;
  float chip = 0;  // half an edge of what there is room for on the links

  // From the edge of one GPU to the edge of another; empty where links are not shown.
  std::vector<ImVec2> route(int from, int to) const;

 private:
  friend class MapBuilder;
  struct Stop {  // a GPU's ways out
    float x = 0;
    float inner = 0, outer = 0;  // the card's edges towards its hubs and away from them
    int row = 0;
    int column = 0;
    std::vector<std::size_t> above;  // hubs from its nearest up to the one that joins all
  };
  std::vector<Stop> stops_;
  std::vector<std::vector<std::vector<ImVec2>>> direct_;  // by from and to: NVLinks between the two
  float lane_ = 0;  // how far apart the two directions of a link are drawn, halved
};

// Who has to reach whom: neighbours of the ring, or GPU 0 all others.
enum class Traffic : std::uint8_t { kRing, kStar };

// `topology` may be null. `unit` is a pixel at scale 1.
GpuMap lay_out_gpus(const machine::Topology* topology, const std::vector<int>& ring,
                    const Box& area, float unit, Traffic traffic = Traffic::kRing);

// The point so far along a line, 0..1 of its length.
ImVec2 along(const std::vector<ImVec2>& line, float share);
// The same, but at least `kept` from both ends; in the middle of a line that is too short.
ImVec2 along(const std::vector<ImVec2>& line, float share, float kept);
// Whether something with such an edge can be seen to travel along it.
bool has_room(const std::vector<ImVec2>& line, float edge);

}  // namespace trainscope::ui
