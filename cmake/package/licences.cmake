# The licences of what is in the program beside our own code, as their makers wrote them.
function(trainscope_licence name file)
  install(FILES ${file} DESTINATION ${our_licences}/licences RENAME ${name}.txt ${ARGN})
endfunction()

set(TRAINSCOPE_DOCUMENTS /usr/share/doc CACHE PATH "where Debian's packages have their licences")

# Compiled into the program: Debian's packages.
foreach(package nlohmann-json3-dev libcli11-dev libstb-dev libfmt-dev libsimdjson-dev libtomlplusplus-dev)
  trainscope_licence(${package} ${TRAINSCOPE_DOCUMENTS}/${package}/copyright OPTIONAL)
endforeach()

# For Windows zlib, FreeType, Eigen, and the C and C++ libraries too; nothing is carried beside it.
if(WIN32)
  foreach(package zlib1g-dev libfreetype-dev libeigen3-dev gcc-mingw-w64-base mingw-w64-x86-64-dev)
    trainscope_licence(${package} ${TRAINSCOPE_DOCUMENTS}/${package}/copyright)
  endforeach()
else()
  trainscope_licence(libasio-dev ${TRAINSCOPE_DOCUMENTS}/libasio-dev/copyright OPTIONAL)
  set(carried libopenblas0-pthread libgfortran5 libfreetype6 libpng16-16 libbrotli1)
endif()

# Carried beside it, which is passing on what others made: it is packed with their licences or not at all. Installed
# where it was built it is passed on to nobody.
foreach(package ${carried})
  set(licence ${TRAINSCOPE_DOCUMENTS}/${package}/copyright)
  # As newer distributions call what was built anew for times of 64 bits.
  if(EXISTS ${TRAINSCOPE_DOCUMENTS}/${package}t64/copyright)
    set(licence ${TRAINSCOPE_DOCUMENTS}/${package}t64/copyright)
  endif()
  install(CODE "if(CMAKE_INSTALL_COMPONENT AND NOT EXISTS \"${licence}\")
    message(FATAL_ERROR \"The archive carries ${package}, whose licence is not here: there is no ${licence}\")
  endif()" COMPONENT carried)
  trainscope_licence(${package} ${licence} OPTIONAL COMPONENT carried)
endforeach()

# The pinned sources of the window. Inconsolata and glad have theirs inside the font and the header.
if(TARGET third_party_ui)
  foreach(folder imgui/imgui implot/implot imgui_test_engine/imgui_test_engine/imgui_test_engine glfw/glfw imgui_md/imgui_md
          imgui_md/md4c ImGuiColorTextEdit/ImGuiColorTextEdit imgui-command-palette/imgui-command-palette)
    get_filename_component(name ${folder} NAME)
    file(GLOB licence ${ui_sources}/external/${folder}/LICENSE*)
    trainscope_licence(${name} ${licence})
  endforeach()
  trainscope_licence(Roboto ${ui_fonts}/Roboto/LICENSE.txt)
  trainscope_licence(imgui_bundle ${ui_sources}/LICENSE)
endif()
