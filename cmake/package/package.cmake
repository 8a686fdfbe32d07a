# The packages of `./run package`: a .deb, and an archive to unpack anywhere, which carries more libraries; of
# `./run package --windows`: a .zip to unpack anywhere.
set(CPACK_PACKAGE_NAME trainscope)
set(CPACK_PACKAGE_VENDOR Trainscope)
set(CPACK_PACKAGE_CONTACT Trainscope)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "shows why one configuration of GPU training is faster than another")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME trainscope-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
if(WIN32)
  set(CPACK_PACKAGE_FILE_NAME trainscope-${PROJECT_VERSION}-windows-${CMAKE_SYSTEM_PROCESSOR})
  set(CPACK_GENERATOR ZIP)
else()
  set(CPACK_GENERATOR DEB TGZ)
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)
# Which components go into which package is known when one is made.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/components.cmake)
set(CPACK_TRAINSCOPE_PLUGIN ${plugin})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TRAINSCOPE_PACKAGE_NAME trainscope)
set(CPACK_COMPONENT_TRAINSCOPE_DESCRIPTION
"It runs a training program twice, draws both runs on one time axis and names
what each gap waited for. Without a GPU a calibrated simulator runs the program
in virtual time, so every lesson works on any laptop. It also opens traces of
PyTorch's profiler.")
set(CPACK_DEBIAN_TRAINSCOPE_PACKAGE_SECTION education)
# What GLFW loads while it runs: the window's without which there is none, and OSMesa, which draws pictures
# without a display and which newer distributions no longer have.
set(CPACK_DEBIAN_TRAINSCOPE_PACKAGE_DEPENDS "libgl1, libx11-6, libxcursor1, libxi6, libxinerama1, libxrandr2")
set(CPACK_DEBIAN_TRAINSCOPE_PACKAGE_RECOMMENDS "libosmesa6, fonts-inter, fonts-jetbrains-mono")
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME trainscope-cuda)
set(CPACK_DEBIAN_CUDA_PACKAGE_SECTION education)
set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "trainscope (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_CUDA_DESCRIPTION
"The plug-in that carries its programs out on an NVIDIA GPU, with --executor cuda
on a machine that has the driver.")

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
include(CPack)
