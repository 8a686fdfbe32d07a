#include "ui/app/window/theme.h"

#include <imgui.h>
#include <implot.h>

#include <algorithm>
#include <cmath>

namespace trainscope::ui {
namespace {

using trace::Category;

constexpr Color kDarkText = rgb(0x0F1216);
constexpr Color kWhite = rgb(0xFFFFFF);
constexpr Color kRed = rgb(0xD55E5E);
// Yellow enough to be told from the forward kernels' blue without blue cones.
constexpr Color kGreen = rgb(0x6C902C);

void set(Theme& theme, Category category, Color fill, Color text) {
  theme.categories[static_cast<std::size_t>(category)] = {fill, text, fill};
}

void set_hatched(Theme& theme, Category category, Color fill, Color text, Color line = kRed) {
  theme.categories[static_cast<std::size_t>(category)] = {fill, text, line, true};
}

void set_edged(Theme& theme, Category category, Color fill, Color text, Color line) {
  theme.categories[static_cast<std::size_t>(category)] = {fill, text, line, false, true};
}

// The same on both grounds: data keeps its colour when the theme changes.
void set_data_colours(Theme& theme) {
  set(theme, Category::kHostWork, rgb(0x8592A6), kDarkText);
  set(theme, Category::kHostApi, rgb(0x7D8BA1), kDarkText);
  set(theme, Category::kLoader, rgb(0xA9B4C4), kDarkText);
  set(theme, Category::kPin, rgb(0xB9772A), kDarkText);
  set(theme, Category::kStaging, rgb(0xB9772A), kDarkText);
  set(theme, Category::kKernel, rgb(0x4B9BE6), kDarkText);
  set(theme, Category::kForward, rgb(0x4B9BE6), kDarkText);
  set(theme, Category::kBackward, rgb(0x2F74C0), kWhite);
  set(theme, Category::kOptimizer, kGreen, kDarkText);
  set(theme, Category::kCopyH2D, rgb(0xE79A1F), kDarkText);
  set(theme, Category::kCopyD2H, rgb(0xF4C56E), kDarkText);
  set(theme, Category::kCopyD2D, rgb(0xCFA76A), kDarkText);
  set(theme, Category::kMemset, rgb(0xB3A58A), kDarkText);
  set(theme, Category::kCollective, rgb(0xC77BB0), kDarkText);
}

void set_dark(Theme& theme) {
  theme.ground = rgb(0x0F1216);
  theme.panel = rgb(0x171B21);
  theme.head = rgb(0x1D222A);
  theme.card = rgb(0x1D222A);
  theme.line = rgb(0x2A313B);
  theme.text = rgb(0xE8EBF0);
  theme.muted = rgb(0x9AA4B5);
  theme.faint = rgb(0x7E8999);
  theme.accent = rgb(0x9AA7FF);
  theme.accent_hovered = rgb(0xB0BAFF);
  theme.accent_text = kDarkText;
  theme.good = rgb(0x36C08F);
  theme.bad = rgb(0xE57272);
  theme.warn = rgb(0xE79A1F);
  theme.staging_text = rgb(0xD08C3C);
  theme.copy_text = rgb(0xE79A1F);
  theme.collective_text = rgb(0xD08CBB);
  set_hatched(theme, Category::kHeld, mixed(theme.panel, kRed, 0.28F), rgb(0xFBF1F1));
  set_hatched(theme, Category::kSync, mixed(theme.panel, kRed, 0.18F), rgb(0xFBF1F1));
  set(theme, Category::kAnnotation, rgb(0x39424F), theme.text);
  set(theme, Category::kOther, rgb(0x566173), kWhite);
}

void set_light(Theme& theme) {
  theme.ground = rgb(0xEEF0F3);
  theme.panel = kWhite;
  theme.head = rgb(0xF6F7F9);
  theme.card = rgb(0xF6F7F9);
  theme.line = rgb(0xD9DEE5);
  theme.text = rgb(0x1B212B);
  theme.muted = rgb(0x4D5869);
  theme.faint = rgb(0x667183);
  theme.accent = rgb(0x4650D2);
  theme.accent_hovered = rgb(0x343DB8);
  theme.accent_text = kWhite;
  theme.good = rgb(0x0B7654);
  theme.bad = rgb(0xB93838);
  theme.warn = rgb(0x8A5A00);
  theme.staging_text = rgb(0x8A5210);
  theme.copy_text = rgb(0x8A5A00);
  theme.collective_text = rgb(0x934A7D);
  set_hatched(theme, Category::kHeld, mixed(theme.panel, kRed, 0.26F), rgb(0x3A1010));
  set_hatched(theme, Category::kSync, mixed(theme.panel, kRed, 0.16F), rgb(0x3A1010));
  set(theme, Category::kAnnotation, rgb(0xDFE4EB), theme.text);
  set(theme, Category::kOther, rgb(0x5F6B7D), kWhite);
}

// A beamer lifts black to grey and washes colours out, so differences are of lightness first: what
// meets in a lane is dark beside light, labels are black or white, and pale bars have a dark edge.
void set_projector_data(Theme& theme) {
  const Color black = rgb(0x000000);
  const Color blue = rgb(0x0B4F94), ochre = rgb(0x7A4A08), slate = rgb(0x3F4A5C);
  set_edged(theme, Category::kHostWork, slate, kWhite, slate);
  set_edged(theme, Category::kHostApi, rgb(0x4C586B), kWhite, slate);
  set_edged(theme, Category::kLoader, rgb(0xB4BECC), black, rgb(0x4C586B));
  set_edged(theme, Category::kPin, ochre, kWhite, ochre);
  set_edged(theme, Category::kStaging, ochre, kWhite, ochre);
  set_edged(theme, Category::kKernel, rgb(0x62B0F5), black, blue);
  set_edged(theme, Category::kForward, rgb(0x62B0F5), black, blue);
  set_edged(theme, Category::kBackward, rgb(0x0B3275), kWhite, rgb(0x0B3275));
  set_edged(theme, Category::kOptimizer, rgb(0x1A6230), kWhite, rgb(0x1A6230));
  set_edged(theme, Category::kCopyH2D, rgb(0xF0A01E), black, rgb(0x8A5200));
  set_edged(theme, Category::kCopyD2H, rgb(0xFBDDA0), black, rgb(0x8A5200));
  set_edged(theme, Category::kCopyD2D, rgb(0xDDB97F), black, rgb(0x7A5A22));
  set_edged(theme, Category::kMemset, rgb(0xC4B79E), black, rgb(0x66593E));
  set_edged(theme, Category::kCollective, rgb(0x843D73), kWhite, rgb(0x843D73));
  set_hatched(theme, Category::kHeld, rgb(0xF7D6D6), rgb(0x2B0606), rgb(0xB3261E));
  set_hatched(theme, Category::kSync, rgb(0xFBE6E6), rgb(0x2B0606), rgb(0xB3261E));
  set_edged(theme, Category::kAnnotation, rgb(0xE6EAF0), black, rgb(0x5B6675));
  set_edged(theme, Category::kOther, rgb(0x4A5566), kWhite, rgb(0x4A5566));
}

void set_projector(Theme& theme) {
  theme.ground = kWhite;
  theme.panel = kWhite;
  theme.head = rgb(0xF1F3F6);
  theme.card = rgb(0xF5F6F8);
  theme.line = rgb(0x8A94A3);
  theme.text = rgb(0x0A0D12);
  theme.muted = rgb(0x2A323E);
  theme.faint = rgb(0x434C59);
  theme.accent = rgb(0x2630A8);
  theme.accent_hovered = rgb(0x1B2385);
  theme.accent_text = kWhite;
  theme.good = rgb(0x07543A);
  theme.bad = rgb(0x8F1515);
  theme.warn = rgb(0x6A4300);
  theme.staging_text = rgb(0x6B3F05);
  theme.copy_text = rgb(0x6A4300);
  theme.collective_text = rgb(0x752F64);
  set_projector_data(theme);
}

// Memory is coloured by the work that it is for: activations as forward, optimizer state as the
// optimizer. Parameters and gradients belong to none.
void set_role_colours(Theme& theme) {
  using program::Role;
  const bool projector = theme.mode == ThemeMode::kProjector;
  const auto set_role = [&theme](Role role, const CategoryStyle& style) {
    theme.roles[static_cast<std::size_t>(role)] = style;
  };
  const Color parameters = projector ? rgb(0x3B3470) : rgb(0x6A6FB3);
  set_role(Role::kParameter, {parameters, kWhite, parameters});
  set_role(Role::kGradient, theme.of(Category::kCopyH2D));
  set_role(Role::kOptimizerState, theme.of(Category::kOptimizer));
  set_role(Role::kActivation, theme.of(Category::kForward));
  set_role(Role::kBatch, theme.of(Category::kLoader));
  set_role(Role::kWorkspace, theme.of(Category::kStaging));
}

// How strongly a tint or a hatch shows on the ground.
float strength(const Theme& theme, float dark, float light, float projector) {
  return theme.is_dark() ? dark : theme.mode == ThemeMode::kLight ? light : projector;
}

// Tints that follow from the colours above.
void derive(Theme& theme) {
  theme.lane_tone = mixed(theme.panel, theme.head, 0.85F);
  theme.accent_soft = mixed(theme.panel, theme.accent, strength(theme, 0.20F, 0.12F, 0.12F));
  theme.good_soft = mixed(theme.panel, theme.good, strength(theme, 0.12F, 0.12F, 0.10F));
  theme.warn_soft = mixed(theme.panel, theme.warn, strength(theme, 0.16F, 0.12F, 0.10F));
  theme.bad_soft = mixed(theme.panel, theme.bad, strength(theme, 0.14F, 0.14F, 0.10F));
  theme.idle_line = faded(theme.faint, strength(theme, 0.42F, 0.38F, 0.60F));
}

Sizes make_sizes(float scale) {
  Sizes s{};
  s.text = 15;
  s.small = 13;
  s.label = 12;
  s.mono = 13;
  s.heading = 20;
  s.figure = 26;
  s.gap = 12;
  s.pad = 16;
  s.corner = 6;
  s.bar_corner = 3;
  s.border = 1;
  s.head = 31;
  s.top_bar = 47;
  s.button = 34;
  s.lane = 38;
  s.lane_min = 24;
  s.row_min = 18;
  s.strip = 26;
  s.axis = 42;
  for (float* field = &s.text; field != &s.text + sizeof(Sizes) / sizeof(float); ++field)
    *field *= scale;
  s.border = std::max(1.0F, std::round(s.border));
  // Letters and edges are drawn sharpest at whole sizes.
  for (float* size : {&s.text, &s.small, &s.label, &s.mono, &s.heading, &s.figure, &s.head,
                      &s.strip, &s.axis, &s.lane, &s.lane_min, &s.row_min})
    *size = std::round(*size);
  return s;
}

// Room goes to what is said, not to what is between.
void set_large(Theme& theme, float scale) {
  theme.size.gap = 8 * scale;
  theme.size.pad = 18 * scale;
  theme.size.lane_min = std::round(30 * scale);
  theme.size.row_min = std::round(24 * scale);
}

ImVec4 vec(Color color) {
  return ImGui::ColorConvertU32ToFloat4(color);
}

void set_imgui_grounds(const Theme& theme, ImVec4* colors) {
  const Color clear = faded(theme.panel, 0);
  colors[ImGuiCol_Text] = vec(theme.text);
  colors[ImGuiCol_TextDisabled] = vec(theme.faint);
  colors[ImGuiCol_TextLink] = vec(theme.accent);
  colors[ImGuiCol_TextSelectedBg] = vec(faded(theme.accent, 0.35F));
  colors[ImGuiCol_InputTextCursor] = vec(theme.accent);
  colors[ImGuiCol_WindowBg] = vec(theme.panel);
  colors[ImGuiCol_ChildBg] = vec(clear);
  colors[ImGuiCol_PopupBg] = vec(theme.is_dark() ? theme.head : theme.panel);
  colors[ImGuiCol_Border] = vec(theme.line);
  colors[ImGuiCol_BorderShadow] = vec(clear);
  colors[ImGuiCol_MenuBarBg] = vec(theme.head);
  colors[ImGuiCol_TitleBg] = colors[ImGuiCol_TitleBgActive] = vec(theme.head);
  colors[ImGuiCol_TitleBgCollapsed] = vec(theme.head);
  colors[ImGuiCol_DockingEmptyBg] = vec(theme.ground);
  colors[ImGuiCol_DockingPreview] = vec(faded(theme.accent, 0.35F));
  colors[ImGuiCol_ModalWindowDimBg] = vec(faded(theme.ground, 0.6F));
  colors[ImGuiCol_TableHeaderBg] = vec(clear);
  colors[ImGuiCol_TableBorderStrong] = colors[ImGuiCol_TableBorderLight] = vec(theme.line);
  colors[ImGuiCol_TableRowBg] = vec(clear);
  colors[ImGuiCol_TableRowBgAlt] = vec(theme.lane_tone);
}

void set_imgui_controls(const Theme& theme, ImVec4* colors) {
  const Color raised = mixed(theme.head, theme.text, 0.05F);
  const Color lifted = mixed(theme.head, theme.text, 0.10F);
  colors[ImGuiCol_FrameBg] = vec(mixed(theme.panel, theme.ground, 0.7F));
  colors[ImGuiCol_FrameBgHovered] = vec(raised);
  colors[ImGuiCol_FrameBgActive] = vec(lifted);
  colors[ImGuiCol_CheckMark] = vec(theme.accent_text);
  colors[ImGuiCol_CheckboxSelectedBg] = vec(theme.accent);
  colors[ImGuiCol_SliderGrab] = vec(theme.accent);
  colors[ImGuiCol_SliderGrabActive] = vec(theme.accent_hovered);
  colors[ImGuiCol_Button] = vec(theme.head);
  colors[ImGuiCol_ButtonHovered] = vec(raised);
  colors[ImGuiCol_ButtonActive] = vec(lifted);
  colors[ImGuiCol_Header] = vec(theme.accent_soft);
  colors[ImGuiCol_HeaderHovered] = vec(raised);
  colors[ImGuiCol_HeaderActive] = vec(lifted);
  colors[ImGuiCol_Separator] = vec(theme.line);
  colors[ImGuiCol_SeparatorHovered] = colors[ImGuiCol_SeparatorActive] =
      vec(faded(theme.accent, 0.6F));
  colors[ImGuiCol_ScrollbarBg] = vec(faded(theme.panel, 0));
  colors[ImGuiCol_ScrollbarGrab] = vec(faded(theme.faint, 0.35F));
  colors[ImGuiCol_ScrollbarGrabHovered] = vec(faded(theme.faint, 0.6F));
  colors[ImGuiCol_ScrollbarGrabActive] = vec(faded(theme.faint, 0.8F));
  colors[ImGuiCol_ResizeGrip] = vec(faded(theme.panel, 0));
  colors[ImGuiCol_ResizeGripHovered] = colors[ImGuiCol_ResizeGripActive] =
      vec(faded(theme.accent, 0.5F));
  colors[ImGuiCol_Tab] = colors[ImGuiCol_TabDimmed] = vec(theme.panel);
  colors[ImGuiCol_TabHovered] = vec(lifted);
  colors[ImGuiCol_TabSelected] = colors[ImGuiCol_TabDimmedSelected] = vec(theme.head);
  colors[ImGuiCol_TabSelectedOverline] = vec(theme.accent);
  colors[ImGuiCol_TabDimmedSelectedOverline] = vec(theme.line);
  colors[ImGuiCol_PlotLines] = colors[ImGuiCol_PlotHistogram] = vec(theme.accent);
  colors[ImGuiCol_PlotLinesHovered] = colors[ImGuiCol_PlotHistogramHovered] =
      vec(theme.accent_hovered);
  colors[ImGuiCol_DragDropTargetBg] = vec(faded(theme.accent, 0.15F));
  colors[ImGuiCol_NavWindowingHighlight] = vec(theme.accent);
  colors[ImGuiCol_NavWindowingDimBg] = vec(faded(theme.ground, 0.4F));
  colors[ImGuiCol_TreeLines] = vec(theme.line);
  colors[ImGuiCol_UnsavedMarker] = vec(theme.accent);
  colors[ImGuiCol_DragDropTarget] = colors[ImGuiCol_NavCursor] = vec(theme.accent);
}

void set_imgui_sizes(const Theme& theme, ImGuiStyle& style) {
  const Sizes& s = theme.size;
  style.WindowPadding = {s.pad, s.pad};
  style.FramePadding = {theme.px(10), theme.px(6)};
  style.CellPadding = {theme.px(8), theme.px(5)};
  style.ItemSpacing = {theme.px(10), theme.px(9)};
  style.ItemInnerSpacing = {theme.px(8), theme.px(6)};
  style.IndentSpacing = theme.px(18);
  style.ScrollbarSize = theme.px(10);
  style.GrabMinSize = theme.px(14);
  style.WindowBorderSize = style.ChildBorderSize = style.PopupBorderSize = s.border;
  style.FrameBorderSize = s.border;
  style.TabBorderSize = 0;
  style.WindowRounding = style.ChildRounding = style.PopupRounding = s.corner;
  style.FrameRounding = style.GrabRounding = style.TabRounding = s.corner;
  style.ScrollbarRounding = s.corner;
  style.WindowMenuButtonPosition = ImGuiDir_None;
  style.DockingSeparatorSize = s.gap;
  style.SeparatorTextBorderSize = s.border;
  style.FontSizeBase = s.text;
  style._NextFrameFontSizeBase = s.text;  // within a frame ImGui keeps the size it began with
  style.HoverStationaryDelay = 0.12F;
  style.DisabledAlpha = 0.45F;
}

void set_implot(const Theme& theme) {
  ImPlotStyle& style = ImPlot::GetStyle();
  style.Colors[ImPlotCol_FrameBg] = vec(faded(theme.panel, 0));
  style.Colors[ImPlotCol_PlotBg] = vec(faded(theme.panel, 0));
  style.Colors[ImPlotCol_PlotBorder] = vec(theme.line);
  style.Colors[ImPlotCol_LegendBg] = vec(theme.head);
  style.Colors[ImPlotCol_LegendBorder] = vec(theme.line);
  style.Colors[ImPlotCol_LegendText] = vec(theme.text);
  style.Colors[ImPlotCol_TitleText] = vec(theme.text);
  style.Colors[ImPlotCol_InlayText] = vec(theme.muted);
  style.Colors[ImPlotCol_AxisText] = vec(theme.muted);
  style.Colors[ImPlotCol_AxisGrid] = vec(theme.grid());
  style.Colors[ImPlotCol_Selection] = vec(theme.accent);
  style.Colors[ImPlotCol_Crosshairs] = vec(theme.muted);
  style.PlotPadding = {theme.px(8), theme.px(8)};
  style.PlotBorderSize = 0;
}

}  // namespace

Color Theme::grid(float strength) const {
  return faded(text, (mode == ThemeMode::kProjector ? 0.14F : 0.08F) * strength);
}

Color Theme::of_origin(trace::OriginKind kind) const {
  switch (kind) {
    case trace::OriginKind::kSimulated:
      return accent;
    case trace::OriginKind::kMeasured:
      return good;
    case trace::OriginKind::kImported:
      return copy_text;
  }
  return accent;
}

Color Theme::tint(Color color) const {
  return mixed(panel, color, is_dark() ? 0.22F : 0.12F);
}

float scale_in_a_room(float width, float height) {
  constexpr float kLeast = 1, kSteps = 20;
  const float fit = std::min(width / 1920, height / 1080);
  return std::max(kLeast, std::floor(fit * kSteps) / kSteps);
}

Theme make_theme(ThemeMode mode, float scale, const Fonts& fonts, bool large) {
  large = large || mode == ThemeMode::kProjector;
  Theme theme;
  theme.mode = mode;
  theme.large = large;
  theme.scale = large ? scale * kProjectorScale : scale;
  theme.font = fonts;
  theme.size = make_sizes(theme.scale);
  if (large) set_large(theme, scale);
  set_data_colours(theme);
  switch (mode) {
    case ThemeMode::kDark:
      set_dark(theme);
      break;
    case ThemeMode::kLight:
      set_light(theme);
      break;
    case ThemeMode::kProjector:
      set_projector(theme);
      break;
  }
  set_role_colours(theme);
  derive(theme);
  return theme;
}

void apply(const Theme& theme) {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  if (theme.is_dark())
    ImGui::StyleColorsDark(&style);
  else
    ImGui::StyleColorsLight(&style);
  set_imgui_grounds(theme, style.Colors);
  set_imgui_controls(theme, style.Colors);
  set_imgui_sizes(theme, style);
  if (ImPlot::GetCurrentContext()) set_implot(theme);
}

}  // namespace trainscope::ui
