#include "train/listing/train_listing.h"

#include "train/listing/listed_run.h"
#include "train/listing/listing_part.h"
#include "train/listing/loop_listing.h"
#include "train/listing/setup_listing.h"
#include "train/listing/step_listing.h"
#include "train/listing/validation_listing.h"

namespace trainscope::train {

TrainLines write_train_listing(program::Listing& listing, const program::Config& config,
                               const TrainSettings& settings, const Graph& graph,
                               const ListedStages& stages) {
  const ListedRun run{config, settings, graph, stages};
  ListingText text{listing};
  TrainLines lines;
  write_setup(text, lines, run);
  write_validation(text, lines, run);
  write_loop_head(text, lines, run);
  write_step(text, lines, run);
  text.indent = 0;
  if (!settings.on_cpu) lines.end = listing.add("torch.cuda.synchronize()");
  if (settings.evaluates) write_evaluation(text, lines, run);
  return lines;
}

}  // namespace trainscope::train
