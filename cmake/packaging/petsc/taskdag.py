"""TaskDAG as a package of PETSc's configure, which builds it after PETSc: the library, and the plugin for this PETSc.

Copy this file into config/BuildSystem/config/packages of PETSc's sources, then

    ./configure --download-taskdag=/path/to/taskdag-0.2.0.tar.gz ...

The archive is one whose folder begins with `taskdag`, as git makes it:

    git archive --prefix=taskdag-0.2.0/ -o taskdag-0.2.0.tar.gz HEAD

CMake 3.25 (--download-cmake), Python 3 and nlohmann-json have to be there. A PETSc with CUDA gets the CUDA
backend. Further options of TaskDAG's CMake come with --download-taskdag-cmake-arguments.
"""
import os
import shutil

import config.package


class Configure(config.package.CMakePackage):
    def __init__(self, framework):
        config.package.CMakePackage.__init__(self, framework)
        self.version = "0.2.0"
        # There is no public place yet: without a path, the archive is taken from where configure runs.
        self.download = ["taskdag-" + self.version + ".tar.gz"]
        self.minCmakeVersion = (3, 25, 0)
        self.buildLanguages = ["Cxx"]
        self.minCxxVersion = "c++20"
        self.precisions = ["double"]
        self.noMPIUni = 1
        # PETSc knows nothing of TaskDAG; applications load or link the plugin.
        self.useddirectly = 0
        self.linkedbypetsc = 0
        self.builtafterpetsc = 1
        self.skippackagewithoptions = 1

    def setupDependencies(self, framework):
        config.package.CMakePackage.setupDependencies(self, framework)
        self.mpi = framework.require("config.packages.MPI", self)
        self.cuda = framework.require("config.packages.CUDA", self)
        self.deps = [self.mpi]
        self.odeps = [self.cuda]

    def installed_in(self):
        """PETSC_DIR and PETSC_ARCH when the plugin is built, and the folder that holds PETSc's `lib` then."""
        if self.argDB["prefix"] and "package-prefix-hash" not in self.argDB:
            prefix = os.path.abspath(os.path.expanduser(self.argDB["prefix"]))
            return prefix, "", prefix
        return self.petscdir.dir, self.arch, os.path.join(self.petscdir.dir, self.arch)

    def formCMakeConfigureArgs(self):
        args = config.package.CMakePackage.formCMakeConfigureArgs(self)
        # PETSc puts its own flags in their place, and without CXXOPTFLAGS those of C++ do not optimise.
        args = self.rmArgsStartsWith(args, ["-DCMAKE_%s_FLAGS_RELEASE" % language for language in ("C", "CXX", "CUDA")])
        petsc_dir, petsc_arch, _ = self.installed_in()
        args += ["-DPETSC_DIR=" + petsc_dir, '-DPETSC_ARCH="' + petsc_arch + '"', "-DTASKDAG_PETSC=ON",
                 "-DTASKDAG_IO=OFF", "-DTASKDAG_TESTS=OFF", "-DTASKDAG_EXAMPLES=OFF", "-DTASKDAG_WERROR=OFF"]
        if self.cuda.found:
            args += ["-DTASKDAG_CUDA=ON"] + self.cuda.getCmakeCUDAArchFlag()
        else:
            args.append("-DTASKDAG_CUDA=OFF")
        return args

    def Install(self):
        """The plugin needs a finished PETSc: what builds it becomes a rule of PETSc's make."""
        if not self.checkSharedLibrariesEnabled():
            raise RuntimeError("TaskDAG's plugin needs a PETSc with shared libraries")
        if not self.cmake.found:
            raise RuntimeError("CMake was not found; --download-cmake brings it")
        args = self.formCMakeConfigureArgs()
        if "download-taskdag-cmake-arguments" in self.framework.clArgDB:
            args.append(self.argDB["download-taskdag-cmake-arguments"])
        build = os.path.join(self.packageDir, "petsc-build")
        shutil.rmtree(build, ignore_errors=True)
        os.mkdir(build)
        self.addPost(build, [self.cmake.cmake + " .. " + " ".join(args), self.make.make_jnp, "${OMAKE} install"])

        # make check: an application that links the plugin is built and solves its problem.
        prefix = self.installed_in()[2]
        application = os.path.join(self.packageDir, "examples", "3_linked_app")
        check = os.path.join(self.packageDir, "petsc-check")
        self.addMakeCheck(self.packageDir, " && ".join([
            "{cmake} -S {application} -B {check} -DCMAKE_PREFIX_PATH={prefix} > petsc-check.log 2>&1",
            "{cmake} --build {check} >> petsc-check.log 2>&1",
            "{check}/linked_app"]).format(cmake=self.cmake.cmake, application=application, check=check, prefix=prefix))
        return self.installDir
