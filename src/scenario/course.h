// The course: lessons by track, and where a learner stands in it. Pure; the shelf only draws it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/lesson.h"

namespace trainscope::scenario {

// How a lesson went, the last time it was finished, or begun.
struct LessonRecord {
  bool finished = false;
  int points = 0;  // of `of` questions and tasks; predictions count nothing, as in a grade
  int of = 0;
  bool missed = false;  // a prediction or the last question was answered wrongly
  bool operator==(const LessonRecord&) const = default;
};
using Records = std::map<std::string, LessonRecord, std::less<>>;  // by lesson

// kNext: the one to take now. kAgain: finished, and a prediction missed. kAhead: another one should
// come first.
enum class Standing { kDone, kAgain, kBegun, kNext, kOpen, kAhead };

struct CourseEntry {
  const Lesson* lesson = nullptr;
  Standing standing = Standing::kOpen;
  LessonRecord record;
  std::string after;                  // kAhead: the title of the lesson that should come first
  std::vector<std::string> required;  // titles of those that it requires; the id of one not there
};

struct Track {
  std::string id;     // "T1"
  std::string title;  // "Feed the GPU"
  std::vector<CourseEntry> lessons;
  int done() const;
};

// The tracks of the course in order, each with its lessons in the order of `lessons`, which must
// outlive them. At most one lesson of all is the next.
std::vector<Track> course_of(const std::vector<Lesson>& lessons, const Records& records);

// "Feed the GPU"; the id itself for a track of somebody's own.
std::string title_of_track(std::string_view track);

// Of the lessons that are not finished.
int minutes_left(const std::vector<Track>& tracks);

}  // namespace trainscope::scenario
