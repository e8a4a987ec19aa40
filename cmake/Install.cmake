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
# The pkg-config files find their prefix from where they stand, so that an installed tree may be moved. Outside the
# loader's directories, a program needs an rpath: else it takes the DAT library of an installed OFED, or none. Inside them,
# distributions do not accept one. --prefix may say where at install time, so that both kinds of file are made.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(api dat dat2)
  set(SOFTDAT_RPATH "")
  configure_file(cmake/${api}.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/system/${api}.pc @ONLY)
  set(SOFTDAT_RPATH "\${rpath} ")
  configure_file(cmake/${api}.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/private/${api}.pc @ONLY)
endforeach()
install(CODE "
  set(kind private)
  if(CMAKE_INSTALL_PREFIX MATCHES \"^/(usr(/local)?)?/*$\")
    set(kind system)
  endif()
  file(INSTALL \"${PROJECT_BINARY_DIR}/pkgconfig/\${kind}/\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}\")")

configure_file(cmake/Uninstall.cmake.in ${PROJECT_BINARY_DIR}/Uninstall.cmake @ONLY)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_BINARY_DIR}/Uninstall.cmake USES_TERMINAL)
