# SPDX-License-Identifier: BSD-2-Clause
install(DIRECTORY libdat/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
