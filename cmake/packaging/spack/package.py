# The sources have no public place yet, so there is no URL. Put this file into packages/taskdag of a Spack repository of
# yours (Spack 1.0 or newer). Then build a checkout, in an environment of Spack:
#   spack add taskdag && spack develop --path /path/to/checkout taskdag@0.2.0 && spack install
# or an archive that lies where Spack is called:
#   git archive --prefix=taskdag-0.2.0/ -o taskdag-0.2.0.tar.gz HEAD
#   spack install --no-checksum taskdag
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Taskdag(CMakePackage, CudaPackage):
    """Incomplete factorisations, triangular solves and smoothers of sparse matrices as tasks, on NVIDIA GPUs and host
    threads: a C++ library and a plugin for PETSc."""

    manual_download = True
    url = f"file://{os.getcwd()}/taskdag-0.2.0.tar.gz"

    license("BSD-2-Clause")

    version("0.2.0")

    # Without CUDA (the default of CudaPackage) host threads do the work.
    variant("petsc", default=True, description="Build the plugin for PETSc")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.6:", type="build")
    depends_on("nlohmann-json", type="build")

    depends_on("libarchive")
    depends_on("zlib-api")
    depends_on("cuda@12.4:", when="+cuda")
    depends_on("mpi", when="+petsc")
    # Data stays on the GPU with ^petsc+cuda; with ~cuda vectors are copied at each application.
    depends_on("petsc@3.18:3.26+mpi+shared+double", when="+petsc")

    conflicts("%gcc@:11", msg="TaskDAG is C++20: g++ 12 or newer")
    conflicts("cuda_arch=none", when="+cuda", msg="Name the generations of the GPUs, such as cuda_arch=90")

    def cmake_args(self):
        args = [
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define_from_variant("TASKDAG_CUDA", "cuda"),
            self.define_from_variant("TASKDAG_PETSC", "petsc"),
            self.define("TASKDAG_IO", True),
            # Neither is installed; the examples alone need CLI11.
            self.define("TASKDAG_EXAMPLES", False),
            self.define("TASKDAG_TESTS", False),
            self.define("TASKDAG_WERROR", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args

    def setup_run_environment(self, env):
        if self.spec.satisfies("+petsc"):
            env.set("TASKDAG_PLUGIN", join_path(self.prefix.lib, "libpetsctaskdag.so"))
            env.prepend_path("PYTHONPATH", join_path(self.prefix.share, "taskdag", "python"))
