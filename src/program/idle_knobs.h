// Knobs that change nothing in a config, because of what another knob says: model.hidden where the
// model is a ResNet, or a step of scaler.inject_inf_at that the run does not get to. What
// contradicts another knob outright is refused where a program is built.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/config.h"

namespace trainscope::program {

// The knob that makes this one idle, with its value: "model.name = resnet18". Empty where the knob
// may change something. The name must be a knob's.
std::string idle_because(const Config& config, std::string_view knob);

// "changes nothing with model.name = resnet18"; of a list of which some steps are the run's,
// "changes nothing at 50 with steps = 5". Empty where all of it may change something.
std::string idle_note(const Config& config, std::string_view knob);

// "model.hidden changes nothing with model.name = resnet18", of each of these knobs that is idle in
// all of the configs; not because of a knob that is to take several values. Of a knob that tells
// steps, only configs count in which it is set.
std::vector<std::string> idle_words(const std::vector<std::string>& knobs,
                                    const std::vector<const Config*>& configs,
                                    const std::vector<std::string>& varied = {});

}  // namespace trainscope::program
