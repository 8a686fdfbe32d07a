# What a user of the UI sources must see exactly as they were compiled: read by both sides.
set(ui_external ${ui_sources}/external)
set(ui_include_dirs
  ${ui_external}/imgui/imgui
  ${ui_external}/imgui/imgui/backends
  ${ui_external}/imgui/imgui/misc/cpp
  ${ui_external}/imgui/imgui/misc/freetype
  ${ui_external}/implot/implot
  ${ui_external}/imgui_test_engine/imgui_test_engine
  ${ui_external}/glfw/glfw/include
  ${ui_external}/glfw/glfw/deps
  ${ui_external}/imgui_md/imgui_md
  ${ui_external}/imgui_md/md4c/src
  ${ui_external}/ImGuiColorTextEdit/ImGuiColorTextEdit
  ${ui_external}/imgui-command-palette/imgui-command-palette
  ${ui_external}/hello_imgui/hello_imgui/src)

# A browser's GLFW and OpenGL ES 3 come with the compiler, and no window is tested in it.
if(EMSCRIPTEN)
  list(FILTER ui_include_dirs EXCLUDE REGEX "/(glfw|imgui_test_engine)/")
endif()

# IMGUI_DEFINE_MATH_OPERATORS is empty, so that a file that defines it too does not warn.
set(ui_definitions
  IMGUI_ENABLE_TEST_ENGINE
  IMGUI_TEST_ENGINE_ENABLE_COROUTINE_STDTHREAD_IMPL=1
  IMGUI_TEST_ENGINE_ENABLE_STD_FUNCTION=1
  IMGUI_DEFINE_MATH_OPERATORS=
  IMGUI_IMPL_OPENGL_LOADER_CUSTOM
  GLFW_INCLUDE_NONE
  "IMPLOT_CUSTOM_NUMERIC_TYPES=(float)(double)(ImS64)")
if(EMSCRIPTEN)
  list(FILTER ui_definitions EXCLUDE REGEX "TEST_ENGINE|LOADER_CUSTOM")
  list(APPEND ui_definitions IMGUI_IMPL_OPENGL_ES3)
endif()
if(FREETYPE_FOUND)
  list(APPEND ui_definitions IMGUI_ENABLE_FREETYPE)
endif()
