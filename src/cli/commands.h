// The commands of the program: each reads its options, does its work, prints, and returns an exit
// code. Results go to standard output, messages to standard error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainscope::cli {

// How the window and its pictures look. Words, checked where they are used.
struct Look {
  std::string theme;     // dark, light, projector; empty: as chosen last, dark in a picture
  float scale = 0;       // of everything; 0: the display's, 1 in a picture
  std::string size;      // of a picture, "1920x1080", before the scale; empty: that
  std::string panel;     // of a picture: the one that is in front, by a lesson's name of it
  bool present = false;  // in front of a room
  std::string action;    // of a picture: done before it is drawn, by its id; empty: none
  std::string at;        // of a picture: where the playhead stands, "61.4 ms"; empty: at the start
};

// What `run` and `import` write beside what they print; empty: nothing.
struct Outputs {
  std::string trace;
  std::string save;
  std::string html;
  std::string svg;
  std::string png;
  Look look;
  std::string series;  // a metric's name
  bool json = false;
};

struct RunOptions {
  std::string what;                   // a lesson's id, a config, a saved run, or empty
  std::vector<std::string> settings;  // "knob=value", "A.knob=value"
  std::string machine;                // empty: as the config says
  std::string executor = "sim";
  std::string steps;
  std::string seed;
  std::string language;  // of a lesson's texts and a report's words: "de"; empty: English
  std::vector<std::string> lessons;  // folders of lessons beside the shipped ones
  Outputs outputs;
};
int run_command(const RunOptions& options);

struct SweepOptions {
  RunOptions run;                 // what is run for each combination
  std::vector<std::string> vary;  // "knob=a,b,c", "knob=lo..hi"
  std::string csv;                // a file to write; empty: none
};
int sweep_command(const SweepOptions& options);

// Each of the two: a lesson's side (ID:A, ID:B; ID alone is B), a config, a saved run or one side
// of it (FILE.tsrun:A), or a trace. `language`: of a report's words, as import's; empty: English.
int compare_command(const std::string& a, const std::string& b, const Outputs& outputs,
                    const std::string& language);

int import_command(const std::vector<std::string>& traces, const Outputs& outputs,
                   const std::string& language);
int check_command(const std::vector<std::string>& paths, bool json);
struct LessonsOptions {
  std::string png;  // a picture of the shelf to write; empty: none
  Look look;
  std::string language;              // of the titles; empty: English
  std::vector<std::string> lessons;  // folders of lessons beside the shipped ones
  bool json = false;
};
int lessons_command(const LessonsOptions& options);
int knobs_command(bool json);
int metrics_command(bool json);

struct MachinesOptions {
  std::string machine;  // an id or a file: its data sheet; empty: the table of all
  std::string html;     // a file to write as a page; empty: none
  bool json = false;
};
int machines_command(const MachinesOptions& options);

// PyTorch's DistributedSampler: one rank's indices of one epoch, one a line.
struct SamplerOptions {
  std::int64_t length = 0;
  std::int64_t num_replicas = 1;
  std::int64_t rank = 0;
  std::int64_t seed = 0;
  std::int64_t epoch = 0;
  bool drop_last = false;
  bool no_shuffle = false;
  bool json = false;
};
int sampler_command(const SamplerOptions& options);

int actions_command(bool json);
int doctor_command(bool json);
struct ValidateOptions {
  bool published = false;  // beside published numbers, else beside the GPU that is here
  std::string machine;     // that is simulated beside a GPU: an id or a file; empty: what it is
  std::string out;         // the page to write of it; empty: assets/validation/GPU.md
  std::string errors;      // the file to write of published speeds' errors; empty: none
  bool json = false;
};
// With `published`, ends with 1 when a simulated number is outside its tolerance.
int validate_command(const ValidateOptions& options);

struct CalibrateOptions {
  std::string id;   // of the GPU's file; empty: from the device's name
  std::string out;  // the folder that gets gpus/ and machines/; empty: assets
  bool json = false;
};
int calibrate_command(const CalibrateOptions& options);

// Scores answers files, or folders of them, against the runs.
struct GradeOptions {
  std::vector<std::string> answers;
  std::string csv;        // a file to write; empty: none
  std::string gradebook;  // likewise: a row a student, a column a lesson
  std::string roster;  // a CSV file of the students that it is to have; empty: those who are graded
  std::vector<std::string> lessons;  // folders of lessons beside the shipped ones
  bool count_predictions = false;    // a point each
  double pass = -1;                  // the share of points that everybody needs; negative: none
  bool json = false;
};
// Ends with 1 when a score is below `pass`, and with 2, after all others, when a file cannot be
// graded.
int grade_command(const GradeOptions& options);

// A lesson as one HTML file to print: what it asks, room to write, what happened, the answers.
struct HandoutOptions {
  std::string lesson;   // its id or file
  std::string out;      // the file to write; empty: ID.html here; "-": standard output
  std::string student;  // whose seed it takes, and whose name stands on it
  std::string roster;   // a CSV file of students, each of whom gets a sheet; `out` is a folder then
  std::string machine;  // another than the lesson's own; empty: that
  std::string seed;
  std::string language;              // of its texts; empty: English
  std::vector<std::string> lessons;  // folders of lessons beside the shipped ones
  bool answers = true;               // false: a sheet to work on
};
int handout_command(const HandoutOptions& options);

// Opens the window with lessons, runs and traces; none: the shelf of lessons. `student`: whose
// answers are kept, and whose seed lessons take; empty: nobody's. `language`: of the lessons'
// texts; empty: as chosen last.
int window_command(const std::vector<std::string>& files, const Look& look,
                   const std::string& student, const std::string& language);

// The words that name commands, for "did you mean".
const std::vector<std::string>& command_names();

}  // namespace trainscope::cli
