# What `cmake --install` and the packages hold. The program finds its files by where they stand (src/base/files.cpp,
# src/cuda/plugin_loader.cpp), whatever the folder that they are in: bin/trainscope, share/trainscope, lib/trainscope;
# on Windows all are beside the program.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME trainscope)
# Who installs has built what there is to install: the tests are none of it.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY TRUE)
set(here ${CMAKE_CURRENT_LIST_DIR})
set(data ${CMAKE_INSTALL_DATAROOTDIR})
if(WIN32)
  set(ours .)
  set(our_licences .)
  include(${here}/windows/program.cmake)
else()
  set(ours ${data}/trainscope)
  set(our_libraries lib/trainscope)
  set(our_licences ${data}/doc/trainscope)
  include(${here}/libraries.cmake)
endif()

install(DIRECTORY ${CMAKE_SOURCE_DIR}/assets ${CMAKE_SOURCE_DIR}/scenarios DESTINATION ${ours}
        PATTERN pictures EXCLUDE)
if(TARGET third_party_ui)
  install(FILES ${TRAINSCOPE_UI_FONTS} DESTINATION ${ours}/fonts)
endif()

if(WIN32)
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${our_licences} RENAME licence.txt)
else()
  install(FILES ${here}/trainscope.desktop DESTINATION ${data}/applications)
  install(FILES ${here}/trainscope.svg DESTINATION ${data}/icons/hicolor/scalable/apps)
  install(FILES ${here}/trainscope.xml DESTINATION ${data}/mime/packages)
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${our_licences} RENAME copyright)
endif()
include(${here}/licences.cmake)
