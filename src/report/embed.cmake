# Compiles src/report/page/ into the library trainscope_report (page.h). Included by the root
# CMakeLists.txt after that library; run as a script (-P) it writes the source file OUTPUT.

# The scripts share one scope, in this order.
set(page_scripts format data theme axis fold layout draw overlay pick details listing input main)

# embed(FUNCTION FILES...): a function that returns the files' text, one after another. A string
# literal ends well before the limits of compilers.
function(embed function)
  string(APPEND source "std::string_view ${function}() {\n  static constexpr std::string_view text =\n")
  foreach(file ${ARGN})
    file(READ ${PAGE}/${file} text)
    string(APPEND source "R\"embedded(${text})embedded\"\n")
  endforeach()
  string(APPEND source ";\n  return text;\n}\n\n")
  set(source "${source}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  set(source "#include \"report/page.h\"\n\nnamespace trainscope::report {\n\n")
  embed(page_template page.html)
  embed(page_style drawn.css page.css charts.css)
  embed(page_colors page.css)
  embed(drawn_style drawn.css)
  list(TRANSFORM page_scripts APPEND .js)
  embed(page_script ${page_scripts})
  embed(machines_template machines.html)
  embed(machines_style machines.css)
  embed(machines_script machines.js)
  embed(handout_template handout.html)
  embed(handout_style handout.css)
  file(WRITE ${OUTPUT} "${source}}  // namespace trainscope::report\n")
  return()
endif()

set(page_folder ${CMAKE_SOURCE_DIR}/src/report/page)
set(page_source ${CMAKE_BINARY_DIR}/report/page.cpp)
list(TRANSFORM page_scripts PREPEND ${page_folder}/ OUTPUT_VARIABLE page_files)
list(TRANSFORM page_files APPEND .js)
set(other_files page.html page.css drawn.css charts.css machines.html machines.css machines.js handout.html handout.css)
list(TRANSFORM other_files PREPEND ${page_folder}/)
add_custom_command(
  OUTPUT ${page_source}
  COMMAND ${CMAKE_COMMAND} -DPAGE=${page_folder} -DOUTPUT=${page_source} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${page_files} ${other_files} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Embedding the report's page"
  VERBATIM)
target_sources(trainscope_report PRIVATE ${page_source})
