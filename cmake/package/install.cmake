# What `cmake --install` and the packages hold. The program finds its files by where they stand (src/base/files.cpp,
# src/cuda/plugin_loader.cpp): bin/trainscope, share/trainscope, lib/trainscope. Whatever the folder that they are in.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME trainscope)
# Who installs has built what there is to install: the tests are none of it.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY TRUE)
set(ours ${CMAKE_INSTALL_DATAROOTDIR}/trainscope)
set(our_libraries lib/trainscope)
set(our_licences ${CMAKE_INSTALL_DATAROOTDIR}/doc/trainscope)

install(TARGETS trainscope RUNTIME_DEPENDENCY_SET libraries RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# An RPATH, not a RUNPATH: that of the program holds for the libraries of a library, too.
set_target_properties(trainscope PROPERTIES INSTALL_RPATH "$ORIGIN/../${our_libraries}")
target_link_options(trainscope PRIVATE -Wl,--disable-new-dtags)

# Libraries that go along. Of some each distribution has a version of its own; "carried" is what Debian and its
# children all have, for places where nobody may install packages.
set(of_one_version "libfmt|libsimdjson|libtomlplusplus")
set(of_all "libopenblas|libgfortran|libquadmath|libfreetype|libpng16|libbrotli")
install(RUNTIME_DEPENDENCY_SET libraries PRE_INCLUDE_REGEXES "^(${of_one_version})" PRE_EXCLUDE_REGEXES "."
        LIBRARY DESTINATION ${our_libraries} FRAMEWORK DESTINATION ${our_libraries})
install(RUNTIME_DEPENDENCY_SET libraries PRE_INCLUDE_REGEXES "^(${of_all})" PRE_EXCLUDE_REGEXES "."
        LIBRARY DESTINATION ${our_libraries} COMPONENT carried FRAMEWORK DESTINATION ${our_libraries})
# The plug-in for GPUs is no part of "all": it is installed where `ninja trainscope_cuda` has made it.
set(plugin ${CMAKE_BINARY_DIR}/libtrainscope_cuda.so)
install(FILES ${plugin} DESTINATION ${our_libraries} COMPONENT cuda OPTIONAL)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/assets ${CMAKE_SOURCE_DIR}/scenarios DESTINATION ${ours}
        PATTERN pictures EXCLUDE)
if(TARGET third_party_ui)
  install(FILES ${TRAINSCOPE_UI_FONTS} DESTINATION ${ours}/fonts)
endif()

set(here ${CMAKE_CURRENT_LIST_DIR})
set(data ${CMAKE_INSTALL_DATAROOTDIR})
install(FILES ${here}/trainscope.desktop DESTINATION ${data}/applications)
install(FILES ${here}/trainscope.svg DESTINATION ${data}/icons/hicolor/scalable/apps)
install(FILES ${here}/trainscope.xml DESTINATION ${data}/mime/packages)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${our_licences} RENAME copyright)
include(${here}/licences.cmake)
