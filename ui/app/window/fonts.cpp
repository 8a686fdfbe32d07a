#include "ui/app/window/fonts.h"

#include <imgui.h>
#ifdef IMGUI_ENABLE_FREETYPE
#include <imgui_freetype.h>
#endif

#include <filesystem>

#include "base/files.h"
#include "base/program_folder.h"

namespace trainscope::ui {
namespace {

namespace fs = std::filesystem;

// Letters keep the distances that the typeface was drawn with.
#ifdef IMGUI_ENABLE_FREETYPE
constexpr unsigned kLoaderFlags = ImGuiFreeTypeLoaderFlags_LightHinting;
#else
constexpr unsigned kLoaderFlags = 0;
#endif

const char* const kInter = "/usr/share/fonts/opentype/inter/";
const char* const kJetBrains = "/usr/share/fonts/truetype/jetbrains-mono/";

// Typefaces that are there whatever the system has: installed with Trainscope's own files, built
// beside the program.
fs::path own_folder() {
  const fs::path installed = home_folder() / "fonts";
  return is_folder(installed) ? installed : program_folder() / "fonts";
}

std::vector<fs::path> places(const char* system_folder, const char* system_file,
                             const char* own_file) {
  return {fs::path(system_folder) / system_file, own_folder() / own_file};
}

// The first of the files that is there and can be read; null when none is.
ImFont* load_first(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) continue;
    ImFontConfig config;
    config.Flags = ImFontFlags_NoLoadError;
    config.FontLoaderFlags = kLoaderFlags;
    if (ImFont* font = ImGui::GetIO().Fonts->AddFontFromFileTTF(file.string().c_str(), 0, &config))
      return font;
  }
  return nullptr;
}

}  // namespace

Fonts load_fonts(std::vector<std::string>& warnings) {
  Fonts fonts;
  fonts.text = load_first(places(kInter, "Inter-Regular.otf", "Roboto-Regular.ttf"));
  fonts.strong = load_first(places(kInter, "Inter-SemiBold.otf", "Roboto-Bold.ttf"));
  fonts.italic = load_first(places(kInter, "Inter-Italic.otf", "Roboto-RegularItalic.ttf"));
  fonts.mono =
      load_first(places(kJetBrains, "JetBrainsMono-Regular.ttf", "Inconsolata-Medium.ttf"));
  if (!fonts.text || !fonts.strong || !fonts.mono)
    warnings.push_back(
        "Typefaces are missing, so text looks plain: install fonts-inter and "
        "fonts-jetbrains-mono.");
  if (!fonts.text) fonts.text = ImGui::GetIO().Fonts->AddFontDefault();
  if (!fonts.strong) fonts.strong = fonts.text;
  if (!fonts.italic) fonts.italic = fonts.text;
  if (!fonts.mono) fonts.mono = fonts.text;
  ImGui::GetIO().FontDefault = fonts.text;
  return fonts;
}

}  // namespace trainscope::ui
