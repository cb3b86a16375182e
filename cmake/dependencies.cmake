# Every third-party library, all Debian packages (deploy/packages.txt).

find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)  # The FindProtobuf module; must come before gRPC.
find_package(gRPC CONFIG REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS system)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PQXX REQUIRED IMPORTED_TARGET libpqxx)
pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
find_package(OpenSSL REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(mimalloc CONFIG REQUIRED)
find_package(GTest CONFIG REQUIRED)
