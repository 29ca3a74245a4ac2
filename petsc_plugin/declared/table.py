"""The declarations of all settings and of all preconditioner types: nothing of an option is written anywhere else.

How to add an option: a row of SETTINGS below, and its use. From the row generate.py makes the field that holds it, the
reading of the option, its text in -help and docs/options.md, setter and getter for C with manual pages, Fortran and
Python, and the tests of all these. How to add a type: a row of TYPES, and its source in ../pc.

A setting has
  option    its name in the options database
  kind      what it takes: flag(), integer(), real(), word(), text() or file()
  field     where struct Settings of ../settings.hpp has it
  own       "TYPE = DEFAULT" where the field is declared by this row; without it the library or settings.hpp declares it
  who       who reads it: types of the preconditioner, or one of READERS
  tier      USER, EXPERT or STUDY
  says      what it is, in one plain sentence
  function  the C function, with {} for Set or Get; without one there is none
  value     the name of its parameter
  note      what else the manual page says
  petsc     the name that PETSc's own preconditioner of this kind has for it
  default   in documents, where the field's initial value does not say it
  test      a value that is not the default, and one that is refused ("": there is none)
"""

USER, EXPERT, STUDY = "user", "expert", "study"

# Who reads options beside the types of the preconditioner, with the title under which -help shows these.
READERS = {
    "package": "TaskDAG factor options",
    "rcm": "TaskDAG options for the ordering taskdag_rcm",
    "color": "TaskDAG options for the ordering taskdag_color",
    "bmc": "TaskDAG options for all orderings",
    "backend_choice": "TaskDAG options for all solvers",
    "mat_sor": "TaskDAG options for all matrices",
    "ksp": "TaskDAG options for all Krylov methods",
    "petscs_mg": "TaskDAG options for PETSc's multigrid",
}


class Kind:
    """A kind of value: the maker of its row in options.cpp, the C type of its functions, expressions of C++, and words."""

    def __init__(self, maker, c_type, extra=(), get="{field}", put="{field} = static_cast<decltype({field})>(v)", words=()):
        self.maker, self.c_type, self.extra, self.get, self.put, self.words = maker, c_type, list(extra), get, put, words


def flag(**how):
    return Kind("flag", "PetscBool", **how)


def integer(least, most=None, values=None, **how):
    values = values or f"{least} or more"
    return Kind("integer", "PetscInt", [str(least), str(most or "most_of_int"), f'"{values}"'], **how)


def real(values, valid):
    """valid: of the number v, which is finite."""
    return Kind("real", "PetscReal", [f'"{values}"', f"[](PetscReal v) {{ return {valid}; }}"])


def word(*words, names=None, c_type="const char*", maker="word", extra=(), **how):
    """In the order of the enumeration; names: an expression of C++ for them."""
    names = names or "{" + ", ".join(f'"{w}"' for w in words) + "}"
    return Kind(maker, c_type, [names, *extra], words=words, **how)


def switch(*words, alone):
    """The same, and without a value it is the word `alone`."""
    return word(*words, maker="switch_word", extra=[str(words.index(alone))])


def text(values, get="{field}.c_str()", put="{field} = v", maker="text"):
    return Kind(maker, "const char*", [f'"{values}"'], get=get, put=put)


def file(put="{field} = v"):
    return text("a file name", put=put, maker="file")


class Type:
    """A type: its enumerator, name, title for -help, sentence for taskdagpetsc.h, and what struct PcType has of it."""

    def __init__(self, enumerator, name, title, says, **members):
        self.enumerator, self.name, self.title, self.says, self.members = enumerator, name, title, says, members


FACTOR = {"check": "check_factor", "factors": "true", "consolidates": "true", "across": "true"}
TYPES = [
    Type("ILU", "ilu", "ILU", "incomplete LU; levels of fill by PCFactorSetLevels()",
         make="make_ilu", **FACTOR),
    Type("ICC", "icc", "ICC", "incomplete Cholesky; levels of fill by PCFactorSetLevels()",
         make="make_icc", has_halves="true", **FACTOR),
    Type("JACOBI", "jacobi", "Jacobi sweeps", "damped Jacobi sweeps",
         make="make_jacobi", check="check_jacobi", iterates="jacobi_iterates"),
    Type("SOR", "sor", "SOR and SSOR sweeps", "SOR and SSOR sweeps; parameters by PCSORSetOmega() and the like",
         make="make_sor", check="check_sor", iterates="sor_iterates", follows_matrix="true", across="true"),
    Type("DILU", "dilu", "DILU", "incomplete LU whose elimination changes the diagonal alone",
         make="make_dilu", **FACTOR),
    Type("DIC", "dic", "DIC", "incomplete Cholesky whose elimination changes the diagonal alone",
         make="make_dic", has_halves="true", **FACTOR),
    Type("AUTO", "auto", "a choice among a factorisation, Jacobi and multigrid",
         "ILU or ICC, or Jacobi: what is expected to be faster, in later solves what was; multigrid where many solves come "
         "with one matrix",
         make="make_auto", check="check_auto", factors="true", watches_solves="true"),
    Type("MG", "mg", "multigrid", "multigrid that PETSc sets up, by the preconditioner that `PCTaskDAGGetMG()` gives",
         make="make_mg", check="check_mg"),
]

ALL = tuple(t.name for t in TYPES)
FACTORS = ("ilu", "icc", "dilu", "dic", "auto")
ICC = ("icc", "dic", "auto")
JACOBI = ("jacobi", "auto")
SOR = ("sor",)
MG = ("mg",)
PACKAGE = ("package",)


class Setting:
    def __init__(self, option, kind, field, who, tier, says, function=None, value=None, own=None, note=None, petsc=None,
                 default=None, more=None, test=None):
        self.option, self.kind, self.field, self.who, self.tier, self.says = option, kind, field, who, tier, says
        self.function, self.value, self.own, self.note = function, value, own, note
        self.petsc, self.default, self.more, self.test = petsc, default, more, test


SETTINGS = [
    # What users set.
    Setting("-pc_taskdag_type", word(names="type_names()", c_type="PCTaskDAGType", put="set_type(s, v)"), "type", ALL, USER,
            "What the preconditioner is: an incomplete factorisation (ilu, icc, dilu, dic), Jacobi or SOR sweeps, multigrid (mg), "
            "or auto, a choice among them; without it auto, or ilu where an option of factors has another "
            "value than its default",
            "PCTaskDAG{}Type", "type", test=("dic", "none"),
            note="Another type than before discards what was set up. `PC_TASKDAG_AUTO` may take another preconditioner from "
                 "one solve to the next, by the times that solves took; without a type it does not take Jacobi for a factor "
                 "that cannot be set up."),
    Setting("-pc_taskdag_backend", word("auto", "cuda", "host", c_type="PCTaskDAGBackend"), "backend.wanted", ALL + PACKAGE,
            USER,
            "Where the work is done: on a GPU (cuda), on host threads, or by where the data lies and by its size (auto)",
            "PCTaskDAG{}Backend", "backend", own="Backend = Backend::automatic", test=("host", "none"),
            note="-ksp_view says what was chosen."),
    Setting("-pc_taskdag_threads", integer(0), "backend.threads", ALL + PACKAGE, USER,
            "Number of host threads of each rank; 0: the processors of a node are shared among its ranks",
            "PCTaskDAG{}Threads", "threads", own="PetscInt = 0", test=("2", "-1")),
    Setting("-pc_taskdag_ordering", text("auto, any registered ordering", maker="ordering"), "factor.ordering", FACTORS + SOR,
            USER,
            "Order in which the rows are taken; auto: taskdag_bmc or taskdag_color where a GPU would have to go through many "
            "levels one after the other, else natural; sor: natural",
            "PCTaskDAG{}Ordering", "ordering", own="std::string = ordering_auto", test=("rcm", ""),
            petsc="-pc_factor_mat_ordering_type", note="PCFactorSetMatOrderingType() sets the same."),
    Setting("-pc_factor_levels", integer(0), "factor.levels", FACTORS, USER,
            "Levels of fill: how far beyond the pattern of the matrix a factor may have entries", own="PetscInt = 0"),
    Setting("-pc_taskdag_precision", word("auto", "double", "single"), "factor.precision", ALL + PACKAGE, USER,
            "Precision in which the values of a factor are stored; vectors and sums are double; auto: single for large "
            "factors on a GPU in the order taskdag_bmc",
            "PCTaskDAG{}Precision", "precision", own="Precision = FactorOptions{}.precision", test=("single", "no_such"),
            note="The numeric factorisation is in double. A factor that does not fit into single precision is stored in "
                 "double, and `PCView()` says so."),
    Setting("-pc_taskdag_tune", flag(), "sweeps.tune", FACTORS + SOR + PACKAGE, USER,
            "Time some solves by several schedules at set-up and keep the fastest; with the schedule auto",
            "PCTaskDAG{}Tune", "tune", own="bool = false", test=("true", "")),
    Setting("-pc_taskdag_jacobi_sweeps", integer(1), "jacobi.sweeps", JACOBI, USER,
            "Number of Jacobi sweeps in an application", "PCTaskDAGJacobi{}Sweeps", "sweeps", test=("3", "0")),
    Setting("-pc_taskdag_sor_omega", real("more than 0, less than 2", "v > 0.0 && v < 2.0"), "sor.omega", SOR, USER,
            "Relaxation factor of SOR", own="PetscReal = 1.0", petsc="-pc_sor_omega"),

    # What experts set.
    Setting("-pc_taskdag_mg_pc_type", word("gamg", "mg", "hmg"), "mg_pc_type", MG, EXPERT,
            "Which of PETSc's multigrid preconditioners sets the levels up; its own options begin with -pc_taskdag_mg_, too: "
            "-pc_taskdag_mg_pc_gamg_threshold, -pc_taskdag_mg_mg_levels_ksp_type",
            "PCTaskDAG{}MGPCType", "type", own="MgType = MgType::gamg", test=("hmg", "jacobi"),
            note="It sets the type of what `PCTaskDAGGetMG()` gives, unless that has been given by `PCTaskDAGSetMG()`."),
    Setting("-pc_taskdag_schedule",
            text("a name in docs/schedules.md, or in -help", get="to_string({field})",
                 put="{field} = solve_schedule_from(lower_case(v))"),
            "sweeps.schedule", FACTORS + SOR + PACKAGE, EXPERT,
            "Schedule of the triangular solves and sweeps: who computes which rows when", "PCTaskDAG{}Schedule", "schedule",
            own="SolveSchedule = SolveSchedule::automatic", more="schedule_names()", test=("plan", "no_such"),
            note="Schedules change the time, not the result beyond rounding. Names are those of -help."),
    Setting("-pc_taskdag_factor_schedule", word(names="factor_schedule_names()"), "sweeps.factor_schedule", FACTORS + PACKAGE,
            EXPERT,
            "Schedule of the numeric factorisation; those from level-launch on are on CUDA alone",
            "PCTaskDAG{}FactorSchedule", "schedule", own="FactorSchedule = FactorSchedule::automatic",
            test=("engine", "no_such"),
            note="Beside auto, lists and engine those of the schedules of sweeps that are made for comparison."),
    Setting("-pc_taskdag_tune_file", file(), "sweeps.tune_file", FACTORS + SOR + PACKAGE, EXPERT,
            "File that keeps what tuning has found, for later runs", "PCTaskDAG{}TuneFile", "file", own="std::string",
            test=("tune.json", "")),
    Setting("-pc_taskdag_one_block_rows", integer(-1), "sweeps.one_block_rows", FACTORS + PACKAGE, EXPERT,
            "Largest matrix that is factored on the host and applied by one thread block of a GPU, for a short set-up, with "
            "the schedule auto; 0: never; -1: 5000 rows, and for the first applications alone, where ordering and fill are "
            "the default",
            "PCTaskDAG{}OneBlockRows", "rows", own="Index = one_block_decided", test=("500", "-2"),
            note="It counts in double precision and without tuning. With `PETSC_DECIDE`, the default, the factor is made on "
                 "the GPU after a number of applications that depends on the pattern; orderings, levels of fill and "
                 "Eisenstat's trick that were asked for have it made there at once."),
    Setting("-pc_taskdag_bmc_block_size", integer(0), "factor.block_size", FACTORS + SOR, EXPERT,
            "Rows in a block of the ordering taskdag_bmc; 0: as -taskdag_bmc_block_size says, which counts for all solvers",
            "PCTaskDAG{}BMCBlockSize", "rows", own="PetscInt = 0", test=("32", "-1")),
    Setting("-pc_factor_reuse_ordering", flag(), "factor.reuse_ordering", FACTORS, EXPERT,
            "Keep the ordering when the pattern of the matrix changes", own="bool = false"),
    Setting("-pc_taskdag_icc_shift",
            word("scaled", "petsc", get="{field}.value_or(default_icc_shift)", put="{field} = static_cast<IccShift>(v)"),
            "factor.icc_shift", ICC, EXPERT,
            "What ICC does at a pivot that is not positive: it repeats with the smallest shift that does, relative to the "
            "diagonal (scaled), or with PETSc's POSITIVE_DEFINITE; not together with -pc_factor_shift_type",
            "PCTaskDAG{}ICCShift", "shift", own="std::optional<IccShift>", test=("petsc", "no_such")),
    Setting("-pc_factor_shift_type",
            word("NONE", "NONZERO", "POSITIVE_DEFINITE", "INBLOCKS", get="shift_type_of(s)",
                 put="{field} = static_cast<MatFactorShiftType>(v)"),
            "factor.shift", FACTORS, EXPERT, "What a factorisation does at a zero pivot, as PETSc's own does it",
            own="std::optional<MatFactorShiftType>", default="NONE for ilu, for icc what -pc_taskdag_icc_shift says"),
    Setting("-pc_factor_shift_amount", real("0 or more", "v >= 0.0"), "factor.shift_amount", FACTORS, EXPERT,
            "Size of a shift", own="PetscReal = 100 * PETSC_MACHINE_EPSILON"),
    Setting("-pc_factor_zeropivot", real("0 or more", "v >= 0.0"), "factor.zero_pivot", FACTORS, EXPERT,
            "Largest absolute value of a pivot that counts as zero", own="PetscReal = 100 * PETSC_MACHINE_EPSILON"),
    Setting("-pc_taskdag_fill", word("all", "blocks"), "factor.fill", FACTORS + PACKAGE, EXPERT,
            "Where levels of fill may be: anywhere, or inside the blocks of the ordering taskdag_bmc alone",
            "PCTaskDAG{}Fill", "fill", own="FillScope = FillScope::everywhere", test=("blocks", "no_such")),
    Setting("-pc_taskdag_point_block", word("auto", "on", "off"), "factor.point_block", FACTORS + SOR + PACKAGE, EXPERT,
            "Whether dense blocks of rows are taken as one: those of BAIJ and SBAIJ matrices (auto), also those of AIJ "
            "matrices with a block size (on), or none",
            "PCTaskDAG{}PointBlock", "choice", own="PointBlock = PointBlock::automatic", test=("off", "no_such"),
            note="For ILU, ICC and SOR."),
    Setting("-pc_taskdag_eisenstat", flag(), "eisenstat", ALL, EXPERT,
            "Let the Krylov method work on (E + L)^-1 A (E + U)^-1, which needs no product with A (Eisenstat's trick); for "
            "sor, dilu, dic, ilu and icc",
            "PCTaskDAG{}Eisenstat", "eisenstat", own="bool = false", test=("true", ""),
            note="For SOR, DILU, DIC, and ILU(0) and ICC(0) that are one of them."),
    Setting("-pc_taskdag_eisenstat_scaling", word("none", "symmetric"), "eisenstat_scaling", ALL, EXPERT,
            "Scaling of the system of Eisenstat's trick: none, or by E^1/2 from both sides, which saves what sweeps read of "
            "E; not for sor; pivots must be above 0, and the norm natural or none",
            "PCTaskDAG{}EisenstatScaling", "scaling", own="TransformScaling = TransformScaling::none",
            test=("symmetric", "no_such")),
    Setting("-pc_taskdag_consolidate", word("off", "auto", "on"), "consolidate.mode", ALL, EXPERT,
            "On several ranks: whether the blocks of ranks that share a GPU are factored as one block (auto), also those of "
            "the ranks of a node that work on host threads (on), or each alone; for ilu, icc, dilu and dic",
            "PCTaskDAG{}Consolidate", "mode", own="Consolidate = Consolidate::off", test=("on", "no_such"),
            note="One of the ranks works for all. Fewer and larger blocks are another preconditioner, with fewer iterations."),
    Setting("-pc_taskdag_consolidate_ranks", integer(0), "consolidate.ranks", FACTORS, EXPERT,
            "Largest number of ranks whose blocks are put together; 0: all that share", "PCTaskDAG{}ConsolidateRanks", "ranks",
            own="PetscInt = 0", test=("2", "-1")),
    Setting("-pc_taskdag_across", word("off", "auto", "on"), "across", ALL, EXPERT,
            "On several ranks: whether a preconditioner is of the whole matrix (on), its rows in an order by colours over all "
            "ranks, with a message between ranks after each colour, of each rank's own rows and columns, or what a model "
            "expects to be faster (auto); for ilu and icc without fill, dilu, dic and sor",
            "PCTaskDAG{}Across", "mode", own="Across = Across::off", test=("on", "no_such"),
            note="Iterations do not grow with the ranks, and each costs more messages. In the ordering taskdag_color, which "
                 "is taken unless the other one is asked for, the preconditioner is the same on any number of ranks; in "
                 "taskdag_bmc blocks do not cross ranks, and iterations, which are fewer, may differ by some."),
    Setting("-pc_taskdag_jacobi_type",
            word("diagonal", "rowmax", "rowsum", "rowl1", "block", get="jacobi_type(s)", put="set_jacobi_type(s, v)"),
            "jacobi.diagonal", JACOBI, EXPERT,
            "What Jacobi divides by: the diagonal, the largest absolute value of a row, its sum, the diagonal and the absolute "
            "values beside it, or dense diagonal blocks",
            "PCTaskDAGJacobi{}Type", "type", petsc="-pc_jacobi_type", test=("rowl1", "no_such")),
    Setting("-pc_taskdag_jacobi_damping", real("finite, not 0", "v != 0.0"), "jacobi.damping", JACOBI, EXPERT,
            "Factor on each Jacobi correction", "PCTaskDAGJacobi{}Damping", "damping", test=("0.7", "0")),
    Setting("-pc_taskdag_jacobi_weights", word("constant", "chebyshev"), "jacobi.weights", JACOBI, EXPERT,
            "Weights of several Jacobi sweeps: all the same, or those of a Chebyshev polynomial, for smoothing, whose damping "
            "is the inverse of the largest eigenvalue (1 with rowl1)",
            "PCTaskDAGJacobi{}Weights", "weights", test=("chebyshev", "no_such"),
            note="The polynomial is of the fourth kind; the eigenvalue is that of the matrix divided by its diagonal. In "
                 "`KSPRICHARDSON` such sweeps go on from the vector that is there, without a residual and without a look at "
                 "tolerances, as `PCSOR` does."),
    Setting("-pc_taskdag_jacobi_abs", flag(), "jacobi.absolute", JACOBI, EXPERT, "Divide by absolute values",
            "PCTaskDAGJacobi{}UseAbs", "use", petsc="-pc_jacobi_abs", test=("true", "")),
    Setting("-pc_taskdag_jacobi_rowl1_scale", real("0 to 1", "v >= 0.0 && v <= 1.0"), "jacobi.l1_scale", JACOBI, EXPERT,
            "Factor on the absolute values beside the diagonal, with the Jacobi type rowl1",
            "PCTaskDAGJacobi{}Rowl1Scale", "scale", petsc="-pc_jacobi_rowl1_scale", test=("0.25", "1.5")),
    Setting("-pc_taskdag_jacobi_blocks", word("auto", "graph", "matrix"), "block_jacobi.source", JACOBI, EXPERT,
            "Where the blocks of the Jacobi type block come from: compact pieces of the graph, or the matrix' own, which "
            "PETSc's pbjacobi and vpbjacobi take; auto: its own where it has any and no block size is given",
            "PCTaskDAGJacobi{}Blocks", "blocks", own="JacobiBlockSource = JacobiBlockSource::automatic",
            test=("matrix", "no_such")),
    Setting("-pc_taskdag_jacobi_block_size", integer(0, "kMostRowsOfJacobiBlock", "0 to 32, 0: 4"), "block_jacobi.block_size",
            JACOBI, EXPERT, "Rows that a block of the graph is to have, with the Jacobi type block",
            "PCTaskDAGJacobi{}BlockSize", "rows", own="PetscInt = 0", test=("16", "33")),
    Setting("-pc_taskdag_sor_its", integer(1), "sor.iterations", SOR, EXPERT,
            "Number of SOR iterations in an application; ranks exchange values between them", own="PetscInt = 1",
            petsc="-pc_sor_its"),
    Setting("-pc_taskdag_sor_lits", integer(1), "sor.local_iterations", SOR, EXPERT,
            "Number of iterations on a rank's own rows in each SOR iteration", own="PetscInt = 1", petsc="-pc_sor_lits"),
    Setting("-pc_taskdag_sor_diagonal_shift", real("a finite number", "std::isfinite(v)"), "sor.shift", SOR, EXPERT,
            "Number that SOR adds to diagonal entries; as PETSc's, nothing below 0 with omega 1",
            "PCTaskDAGSOR{}DiagonalShift", "shift", own="PetscReal = 0.0", petsc="-pc_sor_diagonal_shift",
            test=("0.5", "inf")),
] + [
    # In the order in which PCSOR reads them: where several are given, the last one counts.
    Setting(f"-pc_taskdag_sor_{name}",
            flag(get="false", put="if (v) {field} = SOR_" + name.upper() + "_SWEEP"), "sor.sweep", SOR, EXPERT, says,
            petsc=f"-pc_sor_{name}", own="MatSORType = SOR_LOCAL_SYMMETRIC_SWEEP" if name == "symmetric" else None)
    for name, says in (
        ("symmetric", "Sweep forward and backward (SSOR); as PETSc's, on one rank only"),
        ("backward", "Sweep from the last row on; on one rank only"),
        ("forward", "Sweep from the first row on; on one rank only"),
        ("local_symmetric", "Sweep forward and backward through each rank's own rows; counts where no sweep is named"),
        ("local_backward", "Sweep backward through each rank's own rows"),
        ("local_forward", "Sweep forward through each rank's own rows"))
] + [
    Setting("-taskdag_mat_sor", flag(), "shared.mat_sor", ("mat_sor",), EXPERT,
            "MatSOR() of seqaij, seqaijcusparse and seqaijkokkos matrices by TaskDAG, for PETSc's own preconditioners sor and "
            "eisenstat; read when the plugin is loaded, without prefix", own="bool = false"),
    Setting("-taskdag_mg", flag(), "shared.mg", ("petscs_mg",), EXPERT,
            "Whether TaskDAG applies the cycles of PETSc's own preconditioners mg, gamg and hmg, which PETSc sets up; looked at "
            "in each set-up, without prefix", own="bool = false"),
    Setting("-taskdag_mg_whole_rows", integer(0), "shared.mg_whole_rows", ("mg",), EXPERT,
            "On several ranks: rows up to which a level of multigrid is done by each rank for all, the coarsest always; looked "
            "at in each set-up, without prefix", own="PetscInt = 0",
            default="1000, on GPUs 16384"),
    Setting("-taskdag_ksp", switch("auto", "on", "off", alone="on"), "shared.ksp", ("ksp",), EXPERT,
            "Whether PETSc's Krylov methods of the same names run as loops of TaskDAG: where the preconditioner is TaskDAG's "
            "(auto), never (off), also with PETSc's none, jacobi, pbjacobi and vpbjacobi (on, and without a value); looked at in each "
            "solve, without prefix", own="KspUse = KspUse::automatic"),
    Setting("-taskdag_ksp_trace", file(), "shared.ksp_trace", ("ksp",), EXPERT,
            "File for a record of the first iteration of each solve that is a loop of TaskDAG, its stages and the applications "
            "of the preconditioner, for Perfetto, and with libtaskdag_papers a plot of it beside it (.svg); looked at in each "
            "solve, with the prefix of the KSP", own="std::string"),
    Setting("-taskdag_auto_min_rows", integer(0), "shared.auto_min_rows", ("backend_choice",), EXPERT,
            "Rows of a rank from which the backend auto sends host data to a GPU; without prefix", own="PetscInt = 20000"),
    Setting("-taskdag_calibrate", flag(), "shared.calibrate", ("backend_choice",), EXPERT,
            "Measure once, before the first set-up on a GPU, how long launches, hops, steps and bytes take there, which automatic "
            "choices go by; kept in the user's cache folder (docs/schedules.md); without prefix", own="bool = false"),
    Setting("-taskdag_bmc_block_size", integer(1), "shared.bmc_block_size", ("bmc",), EXPERT,
            "Rows in a block of the ordering taskdag_bmc where -pc_taskdag_bmc_block_size does not count; with the matrix' "
            "prefix or without", own="PetscInt = 0",
            default="256, less for fewer than 65536 rows, 512 or 64 for some grids in space"),

    # What studies set: the published methods that schedules are compared with, and the task engine.
    Setting("-pc_taskdag_ata_flow", word("pull", "push"), "sweeps.study.flow", FACTORS + SOR + PACKAGE, STUDY,
            "With a schedule ata-...: whether a row reads its operands, or adds to the rows that wait for it",
            "PCTaskDAG{}ATAFlow", "flow", test=("push", "no_such"),
            note="With push the last bits of a result change from run to run."),
    Setting("-pc_taskdag_ata_size", word("equations", "warps_and_levels"), "sweeps.study.size", FACTORS + SOR + PACKAGE, STUDY,
            "With a schedule or a factor schedule ata-...: rows of a task by the paper's equations, or by what gives each warp "
            "a few rows and each task a few levels",
            "PCTaskDAG{}ATASize", "size", test=("warps_and_levels", "no_such"),
            note="For equations, ata-concurrency and ata-locality time a kernel at set-up."),
    Setting("-pc_taskdag_ata_rows_share_warps", flag(), "sweeps.study.rows_share_warps", FACTORS + SOR + PACKAGE, STUDY,
            "With a schedule ata-... or level-...: whether short rows of one level share a warp, or each row has one",
            "PCTaskDAG{}ATARowsShareWarps", "share", test=("false", ""),
            note="The rows of the schedule self, and those of a factorisation, have a warp each in any case."),
    Setting("-pc_taskdag_engine_scheduler",
            word("megakernel", "controller", "timesliced", get="scheduler_index({field})",
                 put="{field} = schedulers.at(static_cast<std::size_t>(v))"),
            "sweeps.run.scheduler", ALL + PACKAGE, STUDY,
            "Scheduler of the task engine, with a schedule engine or a Jacobi form by tasks",
            "PCTaskDAG{}EngineScheduler", "scheduler", test=("timesliced", "no_such")),
    Setting("-pc_taskdag_engine_dependencies", word("ordered", "individual", "phases"), "sweeps.run.dependencies",
            FACTORS + SOR + PACKAGE, STUDY,
            "When a task of the task engine starts, with a schedule engine: in order, when its predecessors have ended, or "
            "when the level before has",
            "PCTaskDAG{}EngineDependencies", "dependencies", test=("phases", "no_such")),
    Setting("-pc_taskdag_trace", file(put="set_trace(s, v)"), "sweeps.trace_file", ALL + PACKAGE, STUDY,
            "File for a record of the tasks that the task engine ran, for Perfetto, and with libtaskdag_papers a plot of it beside "
            "it (.svg); with a schedule engine or a Jacobi form by tasks",
            "PCTaskDAG{}Trace", "file", own="std::string", test=("trace.json", ""),
            note="A run without the task engine is an error of PCSetUp()."),
    Setting("-pc_taskdag_jacobi_form",
            word("auto", "kernels", "turning", "stages-phases", "stages", "checkpoints", "autonomous", "tiles", "resident"),
            "jacobi.form", JACOBI, STUDY,
            "How several Jacobi sweeps are run, with the same result; the four between turning and tiles are by tasks",
            "PCTaskDAGJacobi{}Form", "form", test=("kernels", "no_such")),
    Setting("-pc_taskdag_jacobi_part_entries", integer(1), "jacobi.part_entries", JACOBI, STUDY,
            "Number of matrix entries of a task, with a Jacobi form by tasks", "PCTaskDAGJacobi{}PartEntries", "entries",
            test=("77", "0")),
    Setting("-pc_taskdag_jacobi_long_row", integer(0), "jacobi.long_row", JACOBI, STUDY,
            "Number of entries from which a row is shared out to several tasks; 0: none is", "PCTaskDAGJacobi{}LongRow",
            "entries", test=("99", "-1")),
    Setting("-taskdag_rcm_form", word("auto", "walk", "tasks"), "shared.rcm.form", ("rcm",), STUDY,
            "Whether the ordering taskdag_rcm is made by the library's own walk (auto: the same) or by the task engine, with "
            "the same result; with the matrix' prefix or without"),
    Setting("-taskdag_rcm_sort", word("bitonic", "cub", "cpu-gpu"), "shared.rcm.sort", ("rcm",), STUDY,
            "With the form tasks: whether levels are sorted by tasks, by a library, or made by the calling thread and sorted "
            "by a library; with the matrix' prefix or without"),
    Setting("-taskdag_rcm_steps", word("phases", "dependencies"), "shared.rcm.steps", ("rcm",), STUDY,
            "With the form tasks, sort bitonic or cub: whether a step waits for a phase or for a dependency; with the matrix' "
            "prefix or without"),
    Setting("-taskdag_rcm_scheduler", word("auto", "timesliced", "megakernel", "controller"), "shared.rcm.scheduler",
            ("rcm",), STUDY, "With the form tasks: scheduler of the task engine; with the matrix' prefix or without"),
    Setting("-taskdag_color_form", word("auto", "hashed", "speculative"), "shared.color_form", ("color",), STUDY,
            "How the ordering taskdag_color finds colours: by a hash (auto: the same), or by tasks that speculate, which give "
            "other colours in each run; with the matrix' prefix or without", own="ColourForm = ColourForm::automatic"),
]
