// OpenGL as the window uses it: 3.3 on a desktop, through a loader; ES 3 in a browser.
#pragma once

#ifdef __EMSCRIPTEN__
#include <GLES3/gl3.h>
#else
#include <glad/gl.h>
#endif

namespace trainscope::ui {

// The first line of Dear ImGui's shaders.
#ifdef __EMSCRIPTEN__
inline constexpr const char* kShaderVersion = "#version 300 es";
#else
inline constexpr const char* kShaderVersion = "#version 150";
#endif

}  // namespace trainscope::ui
