# SPDX-License-Identifier: BSD-2-Clause
# How every target of the house is compiled. A room is a static library that ends up in libsoftdat.so.
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED) # headers only

add_library(softdat_options INTERFACE)
# In a unity build a local variable may have the name of a function of another source.
target_compile_options(softdat_options INTERFACE -Wall -Wextra -Wpedantic
  $<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,$<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>,-Wshadow> -Wundef
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast>
  $<$<BOOL:${SOFTDAT_WERROR}>:-Werror>)
# Heads of messages are some hundred bytes that begin as zeros, for which GCC would take `rep stos`: that takes longer to
# begin than seven stores take.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(softdat_options INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign>")
endif()
# Functions of other libraries are called through the table alone, without a jump through another. And pairs of numbers
# that lie side by side are stored one by one: GCC would put two together in a vector first, which takes longer, above all
# where whoever reads them reads one.
target_compile_options(softdat_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-plt>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-tree-slp-vectorize>)
# A precompiled header of clang says when its sources were written, so that another one differs each time and ccache finds
# nothing that was compiled with it. Ninja knows of all its sources, and makes it anew when one changes.
target_compile_options(softdat_options INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
target_link_libraries(softdat_options INTERFACE Threads::Threads)
if(SOFTDAT_SANITIZE)
  target_compile_options(softdat_options INTERFACE -fsanitize=${SOFTDAT_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(softdat_options INTERFACE -fsanitize=${SOFTDAT_SANITIZE})
  # Each check of UBSan names its place by a pointer, and a large program has a million: the loader would write them all at each
  # start of a position-independent one. Small ones stay so: `softdat capture --replay` needs their addresses in the tool.
  if(SOFTDAT_SANITIZE MATCHES "undefined")
    set(SOFTDAT_LINK_LARGE_PROGRAM -no-pie)
  endif()
  # Clang lacks GCC's macros. Its checks are in the program, not in a library, so a C program that links our C++ libraries
  # needs those of C++.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND SOFTDAT_SANITIZE MATCHES "address|thread")
    string(TOUPPER ${CMAKE_MATCH_0} kind)
    target_compile_definitions(softdat_options INTERFACE __SANITIZE_${kind}__)
    target_link_options(softdat_options INTERFACE $<$<LINK_LANGUAGE:C>:-fsanitize-link-c++-runtime>)
    target_link_libraries(softdat_options INTERFACE $<$<LINK_LANGUAGE:C>:stdc++>)
  endif()
  # Tests of scarce memory replace operator new, which clang's run-time library of ThreadSanitizer does not allow. GCC's does,
  # and has the same interface.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND SOFTDAT_SANITIZE STREQUAL "thread")
    execute_process(COMMAND g++ -print-file-name=libtsan.so OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT IS_ABSOLUTE "${library}")
      message(FATAL_ERROR "ThreadSanitizer with clang needs the library libtsan of GCC (Debian package libgcc-12-dev)")
    endif()
    target_link_options(softdat_options INTERFACE -fno-sanitize-link-runtime)
    target_link_libraries(softdat_options INTERFACE ${library})
  endif()
  # The registry and a provider call each other by types of their own, which are alike but not the same. And a program may
  # give any number where the API has an enumeration.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND SOFTDAT_SANITIZE MATCHES "undefined")
    target_compile_options(softdat_options INTERFACE -fno-sanitize=function,enum)
  endif()
endif()

# A message passes through a hundred small functions in several rooms. The libraries that are installed are therefore
# optimised as a whole, which spares a sixth of its time; test programs take the rooms as they were compiled, since to do so
# for each of them would take longer than all of their tests. Whoever says himself how to optimise across files has it so.
option(SOFTDAT_LTO "Optimise the installed libraries as a whole (GCC)" ON)
set(SOFTDAT_COMPILE_FOR_WHOLE "")
set(SOFTDAT_LINK_AS_WHOLE "")
set(SOFTDAT_LINK_IN_PARTS "")
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
if(SOFTDAT_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT build_type STREQUAL "DEBUG" AND NOT SOFTDAT_SANITIZE
    AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION AND NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" MATCHES "lto")
  set(SOFTDAT_COMPILE_FOR_WHOLE -flto=auto -ffat-lto-objects)
  set(SOFTDAT_LINK_AS_WHOLE -flto=auto)
  set(SOFTDAT_LINK_IN_PARTS -fno-lto)
endif()

# For a user who builds once from nothing (tools/quickstart): most of the processor time is headers, read again for each
# source, and code that only links without LTO would use. So the sources of a room are compiled as one (a unity build), and
# for LTO alone. Nothing else differs from a usual build.
option(SOFTDAT_BUILD_ONCE "Build from nothing in half the time: rooms as one source, no warnings (needs SOFTDAT_TESTS=OFF)" OFF)
# The unity build alone, with warnings and tests, as tools/test uses it.
option(SOFTDAT_AS_ONE "Compile the sources of a room as one" ${SOFTDAT_BUILD_ONCE})
# The tests alone.
option(SOFTDAT_TESTS_BY_THE_DOZEN "Compile the sources of tests by the dozen" ${SOFTDAT_AS_ONE})
if(SOFTDAT_BUILD_ONCE)
  if(SOFTDAT_TESTS)
    message(FATAL_ERROR "SOFTDAT_BUILD_ONCE=ON makes no objects for test programs; add -DSOFTDAT_TESTS=OFF")
  endif()
  add_compile_options(-w)
  if(SOFTDAT_COMPILE_FOR_WHOLE)
    list(REMOVE_ITEM SOFTDAT_COMPILE_FOR_WHOLE -ffat-lto-objects)
    # Archives of objects without machine code need the compiler's index of them.
    set(CMAKE_AR ${CMAKE_CXX_COMPILER_AR})
    set(CMAKE_RANLIB ${CMAKE_CXX_COMPILER_RANLIB})
  endif()
endif()

# The C++ library's headers are most of what a source reads: they are precompiled for test programs and, where nothing is
# optimised (debug, sanitizers), for the libraries. GCC 12 warns wrongly of library code that it optimises out of a precompiled
# header, so the libraries of other presets are compiled without, and a source that lacks an include is found there.
# ccache keeps what a precompiled header helped to make only if CCACHE_SLOPPINESS allows it (tools/test sets it).
set(precompile ON)
if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT "$ENV{CCACHE_SLOPPINESS}" MATCHES "pch_defines")
  set(precompile OFF)
endif()
option(SOFTDAT_PRECOMPILE "Precompile headers for tests, and where nothing is optimised for the libraries" ${precompile})
set(SOFTDAT_PRECOMPILE_ROOMS OFF)
if(SOFTDAT_BUILD_ONCE OR (SOFTDAT_PRECOMPILE AND build_type STREQUAL "DEBUG"))
  set(SOFTDAT_PRECOMPILE_ROOMS ON)
endif()

# GCC takes a precompiled header only where all is compiled alike: one for the libraries, which is this target's, one for
# the tool, one for the tests (tests/CMakeLists.txt).
set(SOFTDAT_COMMON_HEADERS <algorithm> <array> <atomic> <cerrno> <chrono> <condition_variable> <cstring> <deque>
  <functional> <map> <memory> <mutex> <optional> <span> <string> <thread> <unordered_map> <utility> <vector>)
function(softdat_precompile target)
  list(TRANSFORM ARGN REPLACE "<(.*)>" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>" OUTPUT_VARIABLE headers)
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()
if(SOFTDAT_PRECOMPILE_ROOMS)
  file(CONFIGURE OUTPUT precompiled.cc CONTENT "// Nothing but its precompiled header.\n")
  add_library(softdat_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(softdat_precompiled PRIVATE softdat_options)
  target_compile_options(softdat_precompiled PRIVATE ${SOFTDAT_COMPILE_FOR_WHOLE})
  set_target_properties(softdat_precompiled PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  softdat_precompile(softdat_precompiled ${SOFTDAT_COMMON_HEADERS})
endif()

# softdat_reuse_precompiled(TARGET): a library of ours takes the precompiled header of all.
function(softdat_reuse_precompiled target)
  if(SOFTDAT_PRECOMPILE_ROOMS)
    target_precompile_headers(${target} REUSE_FROM softdat_precompiled)
  endif()
endfunction()

# softdat_compile_as_one(TARGET): with SOFTDAT_AS_ONE, the sources of the target are compiled as one, except those that
# have compile options or definitions of their own.
function(softdat_compile_as_one target)
  if(SOFTDAT_AS_ONE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endfunction()

# softdat_compile_apart(SOURCE...): these are compiled alone all the same. Their local names are those of other sources of the
# room, too.
function(softdat_compile_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# softdat_room(NAME sources... [LINK libraries...]): one room of the house.
function(softdat_room name)
  cmake_parse_arguments(room "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${room_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC softdat_options ${room_LINK})
  target_compile_options(${name} PRIVATE ${SOFTDAT_COMPILE_FOR_WHOLE})
  # Clang's options of these names ask for more than GCC's.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wconversion> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wsign-conversion>)
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  softdat_reuse_precompiled(${name})
  softdat_compile_as_one(${name})
endfunction()

# softdat_precompile_gtest(TARGET): the test framework is half of what most tests compile; it is compiled once for all of
# them (tests/CMakeLists.txt). GCC takes a precompiled header only where all is compiled for the same kind of output, so
# libraries that end in test programs are compiled as programs are.
function(softdat_precompile_gtest target)
  target_compile_options(${target} PRIVATE ${SOFTDAT_GTEST_OPTIMISATION})
  # After softdat_options: of two options about one check, the compiler takes the later.
  target_link_libraries(${target} PRIVATE softdat_fewer_checks)
  target_link_options(${target} PRIVATE ${SOFTDAT_LINK_LARGE_PROGRAM})
  if(SOFTDAT_PRECOMPILE)
    target_compile_options(${target} PRIVATE -fPIE)
    target_precompile_headers(${target} REUSE_FROM precompiled_gtest)
  endif()
endfunction()

# Sanitizers make the start of a process expensive, and most tests are short: there, programs run in a few processes.
set(SOFTDAT_ALL_IN_PARTS OFF)
if(SOFTDAT_SANITIZE AND NOT SOFTDAT_FULL_TESTS)
  set(SOFTDAT_ALL_IN_PARTS ON)
endif()

# softdat_tests_in_parts(NAME TARGET PARTS [ENVIRONMENT variable=value...] [ARGUMENTS argument...] [LABELS label...]): the
# tests of a GoogleTest binary in so many processes, which name each test as they begin it.
function(softdat_tests_in_parts name target parts)
  cmake_parse_arguments(tests "" "" "ENVIRONMENT;ARGUMENTS;LABELS" ${ARGN})
  foreach(part RANGE 1 ${parts})
    math(EXPR index "${part} - 1")
    set(environment ${tests_ENVIRONMENT} GTEST_TOTAL_SHARDS=${parts} GTEST_SHARD_INDEX=${index})
    add_test(NAME ${name}.part_${part} COMMAND ${target} ${tests_ARGUMENTS})
    set_tests_properties(${name}.part_${part} PROPERTIES TIMEOUT 1200 LABELS "${tests_LABELS}"
      ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# softdat_discover_tests(TARGET [PREFIX]): has ctest list the cases of a GoogleTest binary.
function(softdat_discover_tests target)
  if(SOFTDAT_ALL_IN_PARTS)
    softdat_tests_in_parts(${target} ${target} 2)
  else()
    # Without an argument ARGV1 would be the caller's.
    list(JOIN ARGN "" prefix)
    gtest_discover_tests(${target} TEST_PREFIX "${prefix}" DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900)
  endif()
endfunction()

# softdat_test(NAME sources... [LINK libraries...]): a GoogleTest binary whose cases ctest lists.
function(softdat_test name)
  cmake_parse_arguments(test "" "" "LINK" ${ARGN})
  add_executable(${name} ${test_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE softdat_options ${test_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  softdat_precompile_gtest(${name})
  softdat_discover_tests(${name})
endfunction()
