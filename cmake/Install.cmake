# SPDX-License-Identifier: BSD-2-Clause
# What `cmake --install` puts in place: headers, the two registries, the provider, the CMake package, pkg-config files.
include(CMakePackageConfigHelpers)

install(DIRECTORY libdat/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS softdat_dat_headers EXPORT SoftDATTargets)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/SoftDAT)
install(EXPORT SoftDATTargets NAMESPACE SoftDAT:: DESTINATION ${package_dir})
configure_package_config_file(cmake/SoftDATConfig.cmake.in ${PROJECT_BINARY_DIR}/SoftDATConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SoftDATConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SoftDATConfig.cmake ${PROJECT_BINARY_DIR}/SoftDATConfigVersion.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH SOFTDAT_INCLUDE_FROM_LIB ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
# The pkg-config files find their prefix from where they stand, so that an installed tree may be moved.
foreach(api dat dat2)
  configure_file(cmake/${api}.pc.in ${PROJECT_BINARY_DIR}/${api}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${api}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
