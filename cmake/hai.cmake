# Build settings and the three helpers every folder uses: hai_library, hai_program, hai_test.

set(SANITIZE "" CACHE STRING "sanitizers to build with, e.g. address,undefined or thread")

add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns of its own std::variant and std::string code when it optimises.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict)
  # An eighth of its time went to looking for memory to use again (docs/performance.md, "Building").
  add_compile_options("SHELL:--param ggc-min-expand=1000" "SHELL:--param ggc-min-heapsize=2000000")
else()
  add_compile_options(-w)  # g++ is the compiler of the house; clang is here to find bugs by running, and to be quick
endif()
# Programs say of themselves no folder of the machine that built them: the same sources make the same packages anywhere.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
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

# Most of a compiler's time here goes to the same heavy headers (protobuf, gRPC, Asio) and to the same templates, once for
# each file. With HAI_UNITY a target's files are compiled in batches, so that a batch pays for them once; figures in
# docs/performance.md, "Building". Names in anonymous namespaces must therefore differ within one target, and from names of
# headers: such a name hides the header's from the files behind it in the batch, and nothing warns. Without it one
# changed file is one small compilation, which suits presets that people edit under.
option(HAI_UNITY "compile the files of a target in batches: quicker from nothing, slower after a small change" OFF)
set(HAI_UNITY_BATCH 20 CACHE STRING "files in a batch")
if(HAI_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # In a batch g++ takes a class that holds a type of an anonymous namespace for one that other files may see.
  add_compile_options(-Wno-subobject-linkage)
endif()
function(hai_batches name)
  if(HAI_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${HAI_UNITY_BATCH})
  endif()
endfunction()

# hai_compile_with_clang(): what this folder and those below it add from here on is compiled by clang, not optimised, where
# the programs are compiled by g++ in batches. Half of a build from nothing is the tests' own code, which hardly runs: a
# batch of control_test takes 16 s of a core so, 32 with g++ -O1, 25 with g++ -O0 (docs/performance.md, "Building").
find_program(HAI_CLANG clang++-16)  # Debian's default clang 14 cannot read g++ 12's <ranges>
macro(hai_compile_with_clang)
  if(HAI_UNITY AND HAI_CLANG AND CMAKE_CXX_COMPILER_LAUNCHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT SANITIZE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/with_clang.sh ${HAI_CLANG} ${CMAKE_CXX_COMPILER_LAUNCHER})
    add_compile_options(-O0 -g0 -Wno-unknown-warning-option -Wno-unused-command-line-argument)
    add_library(hai_fmt_for_clang STATIC ${PROJECT_SOURCE_DIR}/common/fmt_for_clang.cpp)
    link_libraries(hai_fmt_for_clang)
  endif()
endmacro()

# hai_library(NAME SOURCES a.cpp ... [PUBLIC lib ...] [PRIVATE lib ...])
# One static library per folder. All includes are written from the repository root.
function(hai_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  hai_batches(${name})
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
  hai_batches(${name})
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

# hai_test(NAME SOURCES a_test.cpp ... DEPS lib ... [SHARDS n]): a GoogleTest program whose cases ctest runs one by one;
# with SHARDS in so many runs of the program, where what the cases share, as a database, takes longer to start than they
# take.
function(hai_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;SHARDS" "SOURCES;DEPS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  hai_batches(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  if(NOT arg_SHARDS)
    gtest_discover_tests(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} DISCOVERY_TIMEOUT 60)
    return()
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}.${shard} COMMAND ${name})
    set_tests_properties(${name}.${shard} PROPERTIES
      TIMEOUT ${arg_TIMEOUT}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
