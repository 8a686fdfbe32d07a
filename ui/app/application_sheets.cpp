// What the application shows over its panels: sheets that ask for a file, notices, progress.

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "ui/app/application.h"
#include "ui/app/export.h"
#include "ui/app/handover.h"
#include "ui/panels/export_sheet.h"
#include "ui/panels/running.h"

namespace trainscope::ui {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(400);

}  // namespace

// ---- Asking ------------------------------------------------------------------------------------

void Application::open_palette() {
  palette_ = {};
  palette_.open = palette_.just_opened = true;
  for (std::size_t i = 0; i < recent_.files().size(); ++i) {
    const std::filesystem::path& file = recent_.files()[i];
    palette_.more.push_back({std::string(kOpenRecent) + std::to_string(i),
                             "Open " + file.filename().string(), "", file.parent_path().string()});
  }
}

void Application::ask_for_export() {
  export_sheet_.open = export_sheet_.just_opened = true;
  const LessonModel* lesson = workspace_.lesson();
  if (export_sheet_.path.empty())
    export_sheet_.path = (lesson ? lesson->lesson.id : std::string("trainscope")) + ".html";
}

// A picture is of the next frame, without the sheet.
void Application::export_to(const std::string& file) {
  if (file.ends_with(".png")) {
    picture_due_ = file;
    return;
  }
  try {
    if (!file.ends_with(".svg")) return begin_to_export(file);
    workspace_.notice = write_drawing(workspace_, timeline_input(workspace_, attention_),
                                      attention_.timeline.view, theme_.mode, file);
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

// Throws where there is nothing to write.
void Application::begin_to_export(const std::string& file) {
  if (exporting_.busy())
    throw InputError(exporting_file_ + " is still being written; wait for it, or cancel it.");
  ExportWork work = export_work(workspace_, file);
  exporting_file_ = file;
  exporting_since_ = std::chrono::steady_clock::now();
  exporting_cancelled_ = std::make_shared<std::atomic<bool>>(false);
  exporting_.start([work = std::move(work),
                    cancelled = exporting_cancelled_](const Background<Exported>::Stopped&) {
    auto exported = std::make_shared<Exported>();
    try {
      exported->written = work([&cancelled] { return cancelled->load(); });
    } catch (const std::exception& error) {
      exported->error = error.what();
    }
    return exported;
  });
}

void Application::take_exported() {
  const std::shared_ptr<Exported> exported = exporting_.get();
  if (!exported) return;
  exporting_.drop();
  for (const std::filesystem::path& file : exported->written.files) hand_over(file);
  workspace_.notice = exported->error.empty() ? exported->written.sentence : exported->error;
}

// With what was copied, where that is a link.
void Application::ask_for_link() {
  link_sheet_.open = link_sheet_.just_opened = true;
  const char* copied = ImGui::GetClipboardText();
  if (copied && std::string_view(copied).starts_with(scenario::kLinkBegins))
    link_sheet_.path = copied;
}

void Application::copy_link() {
  const std::string link = shared_link(scenario::write_link(workspace_.link()));
  ImGui::SetClipboardText(link.c_str());
  workspace_.notice = "Copied: " + link;
}

void Application::open_link(const std::string& text) {
  try {
    const scenario::Link link = scenario::parse_link(text);
    attention_ = {};
    workspace_.open_link(link);
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

void Application::ask_for_picture() {
  picture_sheet_.open = picture_sheet_.just_opened = true;
  if (picture_sheet_.path.empty()) picture_sheet_.path = "trainscope.png";
}

void Application::ask_for_operations() {
  operations_sheet_.open = operations_sheet_.just_opened = true;
  if (operations_sheet_.path.empty()) operations_sheet_.path = "operations.csv";
}

// ---- Drawing -----------------------------------------------------------------------------------

void Application::draw_sheets(const PanelContext& context) {
  draw_all_parameters(context, knobs_, attention_.all_parameters);
  draw_palette(context, palette_);
  draw_machine_chooser(context, machines_);
  draw_help(context, help_open_);
  draw_terms(context, terms_open_);
  draw_notes(context, notes_open_);
  draw_log(context, log_, log_open_);
  draw_file_sheet(context);
  draw_path_sheets(context);
  draw_tour(context, tour_);
  if (tour_.open) window_->scheduler().request_frames(2);
  if (!picture_due_.empty()) window_->scheduler().request_frames(3);
}

// What is wrong with a file is said on the sheet, which stays.
void Application::draw_file_sheet(const PanelContext& context) {
  const std::filesystem::path file = draw_open_sheet(context, open_sheet_);
  if (!open_sheet_.to_forget.empty()) recent_.drop(std::exchange(open_sheet_.to_forget, {}));
  if (file.empty()) return;
  try {
    open_sheet_.beside ? open_beside(file) : open_file(file);
    open_sheet_.open = false;
  } catch (const Error& error) {
    open_sheet_.browser.fail(error.what());
  }
}

void Application::draw_path_sheets(const PanelContext& context) {
  if (draw_path_sheet(context, link_sheet_, "Open a link##sheet",
                      "One line that begins with trainscope:1, as \"Copy a link\" writes it",
                      "Open"))
    open_link(link_sheet_.path);
  if (draw_export_sheet(context, export_sheet_)) export_to(export_sheet_.path);
  if (draw_path_sheet(context, picture_sheet_, "Save a picture##sheet",
                      "The window as it is now, as a PNG file", "Save"))
    picture_due_ = picture_sheet_.path;
  if (draw_path_sheet(context, operations_sheet_, "Save the operations##sheet",
                      "A line an operation, with its times in A and in B, as a CSV file", "Save"))
    save_operations();
}

// A sentence at the foot of the window, until it is clicked.
// Nobody closes it in front of a room: it has been read, and goes.
void Application::time_notice() {
  constexpr auto kRead = std::chrono::seconds(8);
  const auto now = RenderScheduler::Clock::now();
  if (!workspace_.present.on || workspace_.notice.empty()) return timed_notice_.clear();
  if (workspace_.notice != timed_notice_) {
    timed_notice_ = workspace_.notice;
    notice_since_ = now;
  }
  if (now - notice_since_ >= kRead)
    workspace_.notice.clear();
  else
    window_->scheduler().draw_at(notice_since_ + kRead);
}

void Application::draw_notice() {
  time_notice();
  if (workspace_.notice.empty() || (notice_on_card(workspace_) && panels_.lesson)) return;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x / 2,
                           viewport->WorkPos.y + viewport->WorkSize.y - theme_.px(28)},
                          ImGuiCond_Always, {0.5F, 1});
  ImGui::SetNextWindowSize({std::min(theme_.px(620), viewport->WorkSize.x * 0.9F), 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, static_cast<ImU32>(theme_.head));
  ImGui::PushStyleColor(ImGuiCol_Border, static_cast<ImU32>(theme_.warn));
  ImGui::Begin("##notice", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor(2);
  text(theme_.font.text, theme_.size.small, theme_.text, workspace_.notice, true);
  if (button(theme_, "Close", ButtonKind::kLink)) workspace_.notice.clear();
  ImGui::End();
}

// At the foot of the window, once a run takes long enough to be waited for.
namespace {

// Near the lower edge of the window.
void begin_progress(const Theme& theme, const char* name) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x / 2,
                           viewport->WorkPos.y + viewport->WorkSize.y - theme.px(28)},
                          ImGuiCond_Always, {0.5F, 1});
  ImGui::SetNextWindowSize({std::min(theme.px(460), viewport->WorkSize.x * 0.9F), 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, static_cast<ImU32>(theme.head));
  ImGui::PushStyleColor(ImGuiCol_Border, static_cast<ImU32>(theme.accent));
  ImGui::Begin(name, nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor(2);
}

}  // namespace

void Application::draw_progress() {
  const auto now = std::chrono::steady_clock::now();
  std::vector<const SideModel*> slow;
  for (const SideModel& side : workspace_.sides())
    if (side.busy && now - side.progress.begun > kPatience) slow.push_back(&side);
  if (slow.empty()) return;
  begin_progress(theme_, "##running");
  for (const SideModel* side : slow) draw_running(theme_, *side);
  if (button(theme_, "Cancel", ButtonKind::kQuiet)) asked_.emplace_back("run.cancel");
  ImGui::End();
}

void Application::draw_opening() {
  if (!opening_.busy() || std::chrono::steady_clock::now() - opening_since_ < kPatience) return;
  begin_progress(theme_, "##opening");
  text(theme_.font.text, theme_.size.text, theme_.text,
       "Opening " + opening_file_.filename().string(), true);
  if (button(theme_, "Cancel", ButtonKind::kQuiet)) opening_.drop();
  ImGui::End();
}

void Application::draw_exporting() {
  if (!exporting_.busy() || std::chrono::steady_clock::now() - exporting_since_ < kPatience) return;
  begin_progress(theme_, "##exporting");
  text(theme_.font.text, theme_.size.text, theme_.text,
       "Writing " + std::filesystem::path(exporting_file_).filename().string(), true);
  if (button(theme_, "Cancel", ButtonKind::kQuiet)) *exporting_cancelled_ = true;
  ImGui::End();
}

void Application::save_picture() {
  picture_frames_ = 0;
  window_->when_drawn([this, file = std::exchange(picture_due_, {})](const Picture& picture) {
    try {
      write_png(file, picture);
      hand_over(file);
      workspace_.notice = "The picture is in " + file.string() + ".";
    } catch (const Error& error) {
      workspace_.notice = error.what();
    }
    window_->scheduler().request_frames(2);
  });
}

void Application::save_operations() {
  try {
    refresh_operations(workspace_, operations_);
    write_file(operations_sheet_.path, analysis::operations_csv(operations_.rows));
    hand_over(operations_sheet_.path);
    workspace_.notice = "The operations are in " + operations_sheet_.path + ".";
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

}  // namespace trainscope::ui
