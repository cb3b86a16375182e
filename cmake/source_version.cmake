# The version that programs tell of themselves, with the commit they were built from: of deploy/source_version.sh, as packages
# have it. Looked up at each build, in one small source that only programs have: a new commit compiles that one and
# links them anew, and neither libraries nor tests.
set(source_version_file ${CMAKE_BINARY_DIR}/source_version.cpp)
add_custom_target(hai_look_up_version
  COMMAND ${PROJECT_SOURCE_DIR}/cmake/write_source_version.sh ${PROJECT_SOURCE_DIR} ${source_version_file}
  BYPRODUCTS ${source_version_file}
  COMMENT "Looking up the version of the sources"
  VERBATIM)
add_library(hai_source_version OBJECT ${source_version_file})
add_dependencies(hai_source_version hai_look_up_version)
target_include_directories(hai_source_version PRIVATE ${PROJECT_SOURCE_DIR})

# hai_tell_source_version(PROGRAM ...): version() of these is that one.
function(hai_tell_source_version)
  foreach(program IN LISTS ARGN)
    target_sources(${program} PRIVATE $<TARGET_OBJECTS:hai_source_version>)
  endforeach()
endfunction()
