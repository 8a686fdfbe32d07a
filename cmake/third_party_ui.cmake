# third_party_ui: Dear ImGui (docking) with its GLFW and OpenGL 3 backends, ImPlot, the test engine,
# GLFW, glad, md4c with imgui_md, ImGuiColorTextEdit and imgui-command-palette, as one target.
#
# The sources are pinned here and fetched by tools/fetch-ui-sources, which reads these two lines. The
# archives are built once per compiler and lie in the cache, so that a clean checkout does not compile
# them again; sanitizer builds use the same ones.
set(TRAINSCOPE_UI_SOURCES_VERSION 1.92.801)
set(TRAINSCOPE_UI_SOURCES_SHA256 7d790708affe7476969d397784b40eb91760a201ce752131e5bedf4d514e3a45)

if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(ui_cache "$ENV{XDG_CACHE_HOME}/trainscope")
else()
  set(ui_cache "$ENV{HOME}/.cache/trainscope")
endif()
set(ui_sources ${ui_cache}/imgui-bundle-${TRAINSCOPE_UI_SOURCES_VERSION})
if(NOT EXISTS ${ui_sources}/external/imgui/imgui/imgui.h)
  message(STATUS "UI sources: not in the cache, so no window is built (tools/fetch-ui-sources gets them)")
  return()
endif()

find_package(Threads REQUIRED)
find_package(Freetype QUIET)
if(EMSCRIPTEN)
  set(UI_SOURCES ${ui_sources})
  add_subdirectory(cmake/third_party_ui)
  set(ui_recipe ${CMAKE_CURRENT_LIST_DIR}/third_party_ui)
  include(${ui_recipe}/interface.cmake)
  target_include_directories(third_party_ui SYSTEM INTERFACE ${ui_include_dirs})
  target_compile_definitions(third_party_ui INTERFACE ${ui_definitions})
  target_link_options(third_party_ui INTERFACE -sUSE_GLFW=3 -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2)
  return()
endif()

# The key of the archives: everything that changes what the compiler makes of these sources.
set(ui_recipe ${CMAKE_CURRENT_LIST_DIR}/third_party_ui)
file(SHA256 ${ui_recipe}/CMakeLists.txt ui_recipe_hash)
file(SHA256 ${ui_recipe}/interface.cmake ui_interface_hash)
string(SHA256 ui_key
  "${TRAINSCOPE_UI_SOURCES_SHA256} ${ui_recipe_hash} ${ui_interface_hash} ${CMAKE_SYSTEM_PROCESSOR} \
${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} \
${CMAKE_C_COMPILER} ${CMAKE_C_COMPILER_VERSION} freetype ${FREETYPE_VERSION_STRING}")
string(SUBSTRING ${ui_key} 0 16 ui_key)
set(ui_built ${ui_cache}/ui-${TRAINSCOPE_UI_SOURCES_VERSION}-${CMAKE_CXX_COMPILER_ID}-${ui_key})

# Two configurations at once wait for one another; the lock goes when this file is done.
file(LOCK ${ui_cache}/ui.lock GUARD FILE TIMEOUT 1800)
if(NOT EXISTS ${ui_built}/libthird_party_ui.a)
  message(STATUS "UI sources: compiling them once into the cache (1 to 3 minutes)")
  string(TIMESTAMP ui_began %s)
  set(ui_work ${ui_built}.building)
  file(REMOVE_RECURSE ${ui_work})
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${ui_recipe} -B ${ui_work} -G ${CMAKE_GENERATOR}
      -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}
      -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
      -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE}
      "-DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}"
      "-DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}"
      -DUI_SOURCES=${ui_sources}
    OUTPUT_VARIABLE ui_log ERROR_VARIABLE ui_log RESULT_VARIABLE ui_failed)
  if(NOT ui_failed)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${ui_work} --parallel
      OUTPUT_VARIABLE ui_log ERROR_VARIABLE ui_log RESULT_VARIABLE ui_failed)
  endif()
  if(ui_failed)
    message(FATAL_ERROR "${ui_log}\nThe UI sources did not compile (above). "
      "-DTRAINSCOPE_UI=OFF builds everything but the window.")
  endif()
  file(REMOVE_RECURSE ${ui_built} ${ui_work}.done)
  file(MAKE_DIRECTORY ${ui_work}.done)
  file(COPY ${ui_work}/libthird_party_ui.a ${ui_work}/libglfw3.a DESTINATION ${ui_work}.done)
  file(RENAME ${ui_work}.done ${ui_built})
  file(REMOVE_RECURSE ${ui_work})
  string(TIMESTAMP ui_ended %s)
  math(EXPR ui_seconds "${ui_ended} - ${ui_began}")
  message(STATUS "UI sources: compiled in ${ui_seconds} s")
endif()

# ./run configures again when this file has gone.
file(WRITE ${CMAKE_BINARY_DIR}/ui_archive.txt ${ui_built}/libthird_party_ui.a)

# Fonts that are there whatever the system has: Roboto (regular, bold, italic), Inconsolata.
# They stand beside the program, so that it does not lose them with the cache.
set(ui_fonts ${ui_sources}/bindings/imgui_bundle/assets/fonts)
set(TRAINSCOPE_UI_FONTS ${ui_fonts}/Roboto/Roboto-Regular.ttf ${ui_fonts}/Roboto/Roboto-Bold.ttf
  ${ui_fonts}/Roboto/Roboto-RegularItalic.ttf ${ui_fonts}/Roboto/Roboto-BoldItalic.ttf
  ${ui_fonts}/Inconsolata-Medium.ttf)
file(COPY ${TRAINSCOPE_UI_FONTS} DESTINATION ${CMAKE_BINARY_DIR}/fonts)

add_library(trainscope_glfw STATIC IMPORTED)
set_target_properties(trainscope_glfw PROPERTIES IMPORTED_LOCATION ${ui_built}/libglfw3.a)
if(WIN32)
  target_link_libraries(trainscope_glfw INTERFACE gdi32 imm32)
else()
  target_link_libraries(trainscope_glfw INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m rt)
endif()

add_library(third_party_ui STATIC IMPORTED)
set_target_properties(third_party_ui PROPERTIES IMPORTED_LOCATION ${ui_built}/libthird_party_ui.a)
target_link_libraries(third_party_ui INTERFACE trainscope_glfw)
if(FREETYPE_FOUND)
  target_link_libraries(third_party_ui INTERFACE Freetype::Freetype)
endif()
include(${ui_recipe}/interface.cmake)
target_include_directories(third_party_ui SYSTEM INTERFACE ${ui_include_dirs})
target_compile_definitions(third_party_ui INTERFACE ${ui_definitions})
