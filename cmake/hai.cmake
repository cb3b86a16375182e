# Build settings and the three helpers every folder uses: hai_library, hai_program, hai_test.

set(SANITIZE "" CACHE STRING "sanitizers to build with, e.g. address,undefined or thread")

add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns of its own std::variant and std::string code when it optimises.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict)
else()
  add_compile_options(-Wno-error)  # g++ is the compiler of the house; clang is here to find bugs by running
endif()
add_compile_definitions(BOOST_ASIO_NO_DEPRECATED)
option(HAI_FUZZ "count what code inputs reach, for libFuzzer (clang): tests/fuzz" OFF)
if(HAI_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize-recover=all)
endif()
if(SANITIZE)
  add_compile_options(-fsanitize=${SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SANITIZE})
endif()
if(SANITIZE MATCHES "thread")
  add_compile_options(-Wno-tsan)  # Asio uses fences, which the thread sanitizer cannot see and warns about.
endif()

# hai_library(NAME SOURCES a.cpp ... [PUBLIC lib ...] [PRIVATE lib ...])
# One static library per folder. All includes are written from the repository root.
function(hai_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()

# A number that loses something on its way is a bug in code that counts GPUs, bytes and microseconds.
function(hai_strict_numbers name)
  target_compile_options(${name} PRIVATE -Wconversion)
endfunction()

# hai_program(NAME SOURCES main.cpp ... DEPS lib ...)
function(hai_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
endfunction()

# hai_use_mimalloc(NAME): up to a fifth of a busy program's time was glibc's malloc (docs/performance.md). Nothing refers to
# the library, so the linker must be told to keep it. Sanitizers bring their own allocator.
function(hai_use_mimalloc name)
  if(NOT SANITIZE)
    target_link_options(${name} PRIVATE -Wl,--no-as-needed)
    target_link_libraries(${name} PRIVATE mimalloc)
  endif()
endfunction()

# hai_test(NAME SOURCES a_test.cpp ... DEPS lib ...): a GoogleTest program whose cases ctest runs one by one.
function(hai_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} DISCOVERY_TIMEOUT 60)
endfunction()
