#include "scenario/course.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trainscope::scenario {
namespace {

bool finished(const Records& records, const std::string& id) {
  const auto found = records.find(id);
  return found != records.end() && found->second.finished;
}

// The first lesson that this one requires and that is not finished; null: there is none.
const Lesson* first_required(const Lesson& lesson, const std::vector<Lesson>& lessons,
                             const Records& records) {
  for (const std::string& id : lesson.requires_ids) {
    if (finished(records, id)) continue;
    const auto found = std::find_if(lessons.begin(), lessons.end(),
                                    [&](const Lesson& one) { return one.id == id; });
    if (found != lessons.end()) return &*found;
  }
  return nullptr;
}

std::vector<std::string> titles_of(const std::vector<std::string>& ids,
                                   const std::vector<Lesson>& lessons) {
  std::vector<std::string> titles;
  for (const std::string& id : ids) {
    const auto found = std::ranges::find(lessons, id, &Lesson::id);
    titles.push_back(found == lessons.end() ? id : found->title);
  }
  return titles;
}

CourseEntry entry_of(const Lesson& lesson, const std::vector<Lesson>& lessons,
                     const Records& records) {
  CourseEntry entry;
  entry.lesson = &lesson;
  entry.required = titles_of(lesson.requires_ids, lessons);
  if (const auto found = records.find(lesson.id); found != records.end()) {
    entry.record = found->second;
    const bool done = entry.record.finished;
    entry.standing = !done                 ? Standing::kBegun
                     : entry.record.missed ? Standing::kAgain
                                           : Standing::kDone;
    return entry;
  }
  if (const Lesson* first = first_required(lesson, lessons, records)) {
    entry.standing = Standing::kAhead;
    entry.after = first->title;
  }
  return entry;
}

Track& track_of(std::vector<Track>& tracks, const Lesson& lesson) {
  for (Track& track : tracks)
    if (track.id == lesson.track) return track;
  // In the language of the course, whether this lesson is translated or not.
  const std::string title = title_of_track(lesson.track);
  const auto translated = lesson.words.find(title);
  tracks.push_back(
      {lesson.track, translated == lesson.words.end() ? title : translated->second, {}});
  return tracks.back();
}

// What was begun comes first; else the first lesson that nothing keeps one from.
void mark_next(std::vector<Track>& tracks) {
  for (const Standing wanted : {Standing::kBegun, Standing::kOpen})
    for (Track& track : tracks)
      for (CourseEntry& entry : track.lessons)
        if (entry.standing == wanted) {
          entry.standing = Standing::kNext;
          return;
        }
}

}  // namespace

int Track::done() const {
  return static_cast<int>(std::count_if(
      lessons.begin(), lessons.end(), [](const CourseEntry& one) { return one.record.finished; }));
}

std::string title_of_track(std::string_view track) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTitles{
      {{"T0", "Start"},
       {"T1", "Feed the GPU"},
       {"T2", "Fit in memory"},
       {"T3", "Inside the GPU"},
       {"T4", "Precision"},
       {"T5", "Many GPUs"}}};
  for (const auto& [id, title] : kTitles)
    if (id == track) return std::string(title);
  return std::string(track);
}

std::vector<Track> course_of(const std::vector<Lesson>& lessons, const Records& records) {
  std::vector<Track> tracks;
  for (const Lesson& lesson : lessons)
    track_of(tracks, lesson).lessons.push_back(entry_of(lesson, lessons, records));
  std::stable_sort(tracks.begin(), tracks.end(),
                   [](const Track& a, const Track& b) { return a.id < b.id; });
  mark_next(tracks);
  return tracks;
}

int minutes_left(const std::vector<Track>& tracks) {
  int minutes = 0;
  for (const Track& track : tracks)
    for (const CourseEntry& entry : track.lessons)
      if (!entry.record.finished) minutes += entry.lesson->minutes;
  return minutes;
}

}  // namespace trainscope::scenario
