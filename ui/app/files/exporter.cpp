#include "ui/app/files/exporter.h"

#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "ui/app/window/handover.h"
#include "ui/panels/sheets/export_sheet.h"
#include "ui/panels/timelines/timelines.h"
#include "ui/panels/window/foot.h"

namespace trainscope::ui {

void Exporter::ask_for_picture() {
  picture_sheet_.open = picture_sheet_.just_opened = true;
  if (picture_sheet_.path.empty()) picture_sheet_.path = "trainscope.png";
}

void Exporter::ask_for_export() {
  export_sheet_.open = export_sheet_.just_opened = true;
  const LessonModel* lesson = workspace_.lesson();
  if (export_sheet_.path.empty())
    export_sheet_.path = (lesson ? lesson->lesson.id : std::string("trainscope")) + ".html";
}

void Exporter::ask_for_operations() {
  operations_sheet_.open = operations_sheet_.just_opened = true;
  if (operations_sheet_.path.empty()) operations_sheet_.path = "operations.csv";
}

// A picture is of the next frame, without the sheet.
void Exporter::export_to(const std::string& file, const PanelContext& context) {
  if (file.ends_with(".png")) {
    picture_due_ = file;
    return;
  }
  try {
    if (!file.ends_with(".svg")) return begin_to_write(file);
    workspace_.notice = write_drawing(workspace_, timeline_input(workspace_, context.attention),
                                      context.attention.timeline.view, context.theme.mode, file);
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

// Throws where there is nothing to write.
void Exporter::begin_to_write(const std::string& file) {
  if (writing_.busy())
    throw InputError(writing_file_ + " is still being written; wait for it, or cancel it.");
  ExportWork work = export_work(workspace_, file);
  writing_file_ = file;
  writing_since_ = std::chrono::steady_clock::now();
  cancelled_ = std::make_shared<std::atomic<bool>>(false);
  writing_.start([work = std::move(work), cancelled = cancelled_](const auto&) {
    return std::make_shared<Written>(work([&cancelled] { return cancelled->load(); }));
  });
}

void Exporter::take() {
  const std::shared_ptr<Written> written = writing_.get();
  const std::string error = writing_.error();
  if (!written && error.empty()) return;
  writing_.drop();
  if (written)
    for (const std::filesystem::path& file : written->files) hand_over(file);
  workspace_.notice = written ? written->sentence : error;
}

void Exporter::draw_sheets(const PanelContext& context, OperationsPanel& operations) {
  if (draw_export_sheet(context, export_sheet_)) export_to(export_sheet_.path, context);
  if (draw_path_sheet(context, picture_sheet_, "Save a picture##sheet",
                      "The window as it is now, as a PNG file", "Save"))
    picture_due_ = picture_sheet_.path;
  if (draw_path_sheet(context, operations_sheet_, "Save the operations##sheet",
                      "A line an operation, with its times in A and in B, as a CSV file", "Save"))
    save_operations(operations);
}

void Exporter::draw_progress(const PanelContext& context) {
  if (!busy() || !is_waited_for(writing_since_)) return;
  if (draw_file_progress(context.theme, "##exporting",
                         "Writing " + std::filesystem::path(writing_file_).filename().string()))
    *cancelled_ = true;
}

void Exporter::save_picture_if_due() {
  constexpr int kFramesToGo = 3;
  if (picture_due_.empty()) return;
  if (picture_frames_++ < kFramesToGo) return window_.scheduler().request_frames(kFramesToGo);
  picture_frames_ = 0;
  window_.when_drawn([this, file = std::exchange(picture_due_, {})](const Picture& picture) {
    try {
      write_png(file, picture);
      hand_over(file);
      workspace_.notice = "The picture is in " + file.string() + ".";
    } catch (const Error& error) {
      workspace_.notice = error.what();
    }
    window_.scheduler().request_frames(2);
  });
}

void Exporter::save_operations(OperationsPanel& operations) {
  try {
    refresh_operations(workspace_, operations);
    write_file(operations_sheet_.path, analysis::operations_csv(operations.rows));
    hand_over(operations_sheet_.path);
    workspace_.notice = "The operations are in " + operations_sheet_.path + ".";
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

}  // namespace trainscope::ui
