// The sides that are on the screen, and what carries them out beside the window: runs are started,
// read or measured on a worker, and taken in as they come. It knows no lesson.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ui/app/workspace/side_model.h"
#include "ui/app/workspace/worker.h"

namespace trainscope::ui {

class RunDesk {
 public:
  // `wake` is called from another thread when there is something to take in.
  RunDesk(std::function<void()> wake, analysis::GpuRuns::OpenDevice open);

  const std::vector<SideModel>& sides() const { return sides_; }
  bool busy() const;
  // A side that does not run yet waits for its listing and its lanes.
  bool outlining() const;

  // No side is left, and what was under way is dropped.
  void clear();
  // The last one is gone.
  void drop_last();
  // A side with nothing in it yet, new or in place of what is there, whose listing and lanes are
  // asked for.
  void outline(std::size_t slot, program::Config config);
  // Its config is another, and it runs.
  void carry_out(std::size_t slot, program::Config config);
  void start(std::size_t slot);
  // On the GPU of this machine; what is shown stays until that is over.
  void measure(std::size_t slot);
  // A finished run in place of what is there. A large one, and one of a file whose metrics are not
  // there yet, comes beside the window: the timeline first.
  void read_run(std::size_t slot, const RunPointer& run, const std::filesystem::path& file);
  void read_trace(std::size_t slot, const std::filesystem::path& file);
  // A run that was carried out elsewhere is what the side was opened with, and its program is
  // known.
  void expect(std::size_t slot, const analysis::Run& run);
  // It is what the side shows.
  void show(std::size_t slot, const RunPointer& run);
  // Sides as they were; what they were at since is dropped.
  void put_back(std::size_t slot, SideModel side);
  void put_back(std::vector<SideModel> sides);

  // Where one side's times are of a step and the other's cannot be, both are of all of it.
  void level();
  // The first side's own metrics come back: another B may have steps.
  void unlevel();

  // What came back since the last call.
  struct Taken {
    bool any = false;
    std::optional<Nanos> look_at;  // a trace of the first side was opened: where its steps begin
    std::string notice;            // why nothing was measured, as a sentence; empty: nothing
  };
  Taken take();

  // Stops what runs; what there is of it is gone, and a side of which something was seen says so.
  // `all`: those that are over, too, to be run again. Returns a sentence about a side that was
  // measuring and stays as it was; empty: none was.
  std::string cancel(bool all);

 private:
  SideModel& place(std::size_t slot, program::Config config);
  void take(Report& report, Taken& taken);

  std::vector<SideModel> sides_;
  Worker worker_;
};

}  // namespace trainscope::ui
