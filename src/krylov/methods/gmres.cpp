// GMRES and flexible GMRES with restarts. Compiled as a CUDA source where CUDA is.
//
// An iteration adds a vector to the basis: the product, the dot products with the basis, what is left and its norm.
// That vector is divided by its norm where it is next read, in the product of the iteration after. The last worker of
// the last stage rotates the new column of the small matrix and tests the norm that it says. After `restart` of them,
// in a branch of the same iteration, x gets its correction and a new cycle begins with its residual. As PETSc's
// KSPGMRES and KSPFGMRES: the residual's own norm takes the place of the last one of the cycle in the history, and is
// tested, too.
#include <algorithm>
#include <cmath>

#include "krylov/run.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {
namespace {

/// Numbers that are loaded or added up at a time.
constexpr std::uint32_t at_a_time = 8;

/// start + Σ of(k), first <= k < end, in the order of k; loads do not wait for sums.
template <class Number, class Of>
TASKDAG_TASK Number sum_of(Number start, std::size_t first, std::size_t end, const Of& of) {
  Number sum = start;
  std::size_t k = first;
  for (; k + at_a_time <= end; k += at_a_time) {
    for (std::size_t e = 0; e < at_a_time; ++e) sum += of(k + e);
  }
  for (; k < end; ++k) sum += of(k);
  return sum;
}

/// An element of what A is applied to: v on the left, M⁻¹ v on the right, R⁻¹ v on the symmetric side.
struct GmresOperand {
  System system;
  const double* w;
  const double* z;
  double inverse;
  bool right;
  bool fused;
  [[nodiscard]] TASKDAG_TASK double operator()(Index j) const {
    if (!right) return w[j] * inverse;
    return fused ? system.scaled(static_cast<std::uint32_t>(j), w[j] * inverse) : z[j];
  }
};

void check_options(const KrylovOptions& options) {
  const bool flexible = options.method == KrylovMethod::fgmres;
  const bool right = options.side == KrylovSide::right;
  if (flexible && !right) throw InvalidInput("FGMRES has the right side alone");
  const KrylovNorm own = right ? KrylovNorm::unpreconditioned : KrylovNorm::preconditioned;
  if (options.norm != own && options.norm != KrylovNorm::none) {
    throw InvalidInput("GMRES has the norm unpreconditioned on the right, preconditioned on the other sides, or none");
  }
  if (options.restart < 1) throw InvalidInput("the restart of GMRES must be 1 or more");
  if (!(options.breakdown_tolerance >= 0.0) || !(options.happy_tolerance >= 0.0)) {
    throw InvalidInput("tolerances of GMRES must be 0 or more");
  }
}

template <class Number>
struct Gmres {
  static constexpr int parts = parts_of<Number>;

  struct Scalars {
    std::uint32_t columns;  ///< of the small matrix, in this cycle so far
    std::uint32_t step;     ///< modified Gram–Schmidt: the vector of the basis whose turn it is
    double inverse;         ///< of the norm of w
    double first_norm;      ///< of the cycle
    Number rhs;             ///< of the small system: its last element so far
    Number diagonal;        ///< of the new column, by the rotations of those before
  };

  struct Data {
    LoopState loop;
    System system;
    engine::LoopCondition branch[3];  ///< a cycle is over; Gram–Schmidt is not; the cycle goes on
    Scalars* scalars;
    Number* w;  ///< the next vector of the basis times its norm
    Number* u;  ///< a product
    Number* z;  ///< M⁻¹ w or R⁻¹ w, where it is a call on the right; M⁻¹ u or L⁻¹ u, where one is on the left
    Number* basis;       ///< `restart` vectors, `stride` apart
    Number* directions;  ///< flexible with a call: M⁻¹ of each
    std::size_t stride;
    Number* matrix;       ///< upper triangle by columns, `restart` apart
    Number* hessenberg;   ///< the small matrix before its rotations, by columns of `restart + 1`; null: not asked for
    Number* cosine;       ///< of its rotations
    double* sine;         ///< of its rotations
    Number* rhs;          ///< of the small system
    Number* weight;       ///< its solution
    Number* coefficient;  ///< the last dot products with the basis
    std::uint32_t restart;
    double breakdown_tolerance;
    double happy_tolerance;
    bool flexible;
    bool left;   ///< M⁻¹, or L⁻¹ of the symmetric side, after the product
    bool right;  ///< M⁻¹ or R⁻¹ before it
    bool modified;
    int at_once;  ///< iterations from one look at branch[2] to the next
    KrylovRefinement refinement;
    KrylovNorm norm;

    [[nodiscard]] TASKDAG_TASK bool apart() const { return !system.fused(); }
    /// What Gram–Schmidt begins with.
    [[nodiscard]] TASKDAG_TASK const Number* image() const { return apart() && left ? z : u; }
    /// What is applied on the left and on the right.
    [[nodiscard]] TASKDAG_TASK Part left_part() const { return right ? Part::left : Part::whole; }
    [[nodiscard]] TASKDAG_TASK Part right_part() const { return left ? Part::right : Part::whole; }
    [[nodiscard]] TASKDAG_TASK Number* column(std::size_t j) const { return matrix + j * restart; }
    [[nodiscard]] TASKDAG_TASK Number* kept(std::size_t j) const { return hessenberg + j * (std::size_t{restart} + 1); }
    [[nodiscard]] TASKDAG_TASK Number* vector(std::uint32_t k) const { return basis + k * stride; }
  };

  // ----- The small system, by one worker. ------------------------------------------------------------------------

  /// A rotation of two elements of a column: the upper one and the lower one afterwards.
  TASKDAG_TASK static Number upper_of(Number cosine, double sine, Number above, Number below) {
    if constexpr (is_complex<Number>)
      return conjugate(cosine) * above + sine * below;
    else
      return fma(cosine, above, sine * below);
  }
  TASKDAG_TASK static Number lower_of(Number cosine, double sine, Number above, Number below) {
    if constexpr (is_complex<Number>)
      return cosine * below - sine * above;
    else
      return fma(cosine, below, -(sine * above));
  }
  /// Applies the rotations of the columns before to column j. Returns its last element.
  TASKDAG_TASK static Number rotate(const Data& d, std::uint32_t j) {
    Number* column = d.column(j);
    Number above = column[0];
    for (std::uint32_t first = 0; first < j; first += at_a_time) {
      Number below[at_a_time];
      Number cosine[at_a_time];
      double sine[at_a_time];
      for (std::uint32_t e = 0; e < at_a_time; ++e) {
        const std::uint32_t k = first + e < j ? first + e : j - 1;
        below[e] = column[k + 1];
        cosine[e] = d.cosine[k];
        sine[e] = d.sine[k];
      }
      for (std::uint32_t e = 0; e < at_a_time && first + e < j; ++e) {
        column[first + e] = upper_of(cosine[e], sine[e], above, below[e]);
        above = lower_of(cosine[e], sine[e], above, below[e]);
      }
    }
    column[j] = above;
    return above;
  }

  /// Column j is complete but for the norm of w: it is kept as it is, where that is asked for, and rotated. Returns its
  /// diagonal.
  TASKDAG_TASK static Number prepare_column(const Data& d, std::uint32_t j) {
    if (d.hessenberg != nullptr) {
      for (std::uint32_t k = 0; k <= j; ++k) d.kept(j)[k] = d.column(j)[k];
    }
    return rotate(d, j);
  }

  /// Whether w has so small a norm that the solution is in the space: the two methods differ in what a zero is.
  TASKDAG_TASK static bool is_happy(const Data& d, const Scalars& s, double norm) {
    const double ratio = norm / magnitude(s.rhs);
    if (d.flexible) return !(norm > (d.happy_tolerance < ratio ? d.happy_tolerance : ratio));
    return norm < (ratio > d.happy_tolerance ? d.happy_tolerance : ratio);
  }

  /// The rotation that takes the norm of w, below the new column, away. Returns the norm of the residual; a negative
  /// number where there is nothing to rotate.
  TASKDAG_TASK static double rotate_norm_away(const Data& d, Scalars& s, double norm) {
    const std::uint32_t j = s.columns;
    const double length = sqrt(plus_square(norm * norm, s.diagonal));
    if (length == 0.0) return -1.0;
    const Number cosine = s.diagonal / length;
    const double sine = norm / length;
    d.cosine[j] = cosine;
    d.sine[j] = sine;
    d.rhs[j] = conjugate(cosine) * s.rhs;
    s.rhs = -(sine * s.rhs);
    d.rhs[j + 1] = s.rhs;
    d.column(j)[j] = upper_of(cosine, sine, s.diagonal, norm);
    return magnitude(s.rhs);
  }

  /// After the test, where the solution is in the space.
  TASKDAG_TASK static void end_happily(const Data& d, Scalars& s, Control& c) {
    if (!d.flexible && d.norm == KrylovNorm::none) {
      end_with(c, KrylovReason::happy_breakdown);
    } else if (c.reason == 0) {
      end_with(c, KrylovReason::breakdown);
    }
    if (!d.flexible && is_zero(s.diagonal)) {
      end_with(c, KrylovReason::breakdown);
      s.columns = 0;
    }
  }

  /// The new column is complete, and w has that norm.
  TASKDAG_TASK static void take_column(const Data& d, Scalars& s, Control& c, double norm) {
    if (!is_finite(norm)) return end_with(c, KrylovReason::not_a_number);
    const bool happy = is_happy(d, s, norm);
    if (d.hessenberg != nullptr) d.kept(s.columns)[s.columns + 1] = norm;
    const double residual = happy ? 0.0 : rotate_norm_away(d, s, norm);
    if (residual < 0.0) return end_with(c, KrylovReason::breakdown_gmres);
    ++s.columns;
    s.step = 0;
    s.inverse = norm > 0.0 ? 1.0 / norm : 1.0;
    ++c.iterations;
    d.loop.take_norm(c, residual);
    if (happy) end_happily(d, s, c);
  }

  /// s: as they are in memory but for what the caller has changed.
  TASKDAG_TASK static void end_iteration(const Data& d, Scalars s, double norm) {
    Control c = d.loop.read();
    take_column(d, s, c, norm);
    *d.scalars = s;
    d.loop.write(c);
    const bool full = s.columns == d.restart;
    d.branch[0].set(c.reason == 0 && full);
    if (d.branch[2].word != nullptr) d.branch[2].set(goes_on(c) && !full);
  }

  /// Whether the residual's norm is far from the one that the cycle before has ended with.
  TASKDAG_TASK static bool is_far(const Data& d, double norm) {
    const double expected = d.loop.control->last_norm;
    return expected > 0.0 && std::abs(norm - expected) > d.breakdown_tolerance * d.scalars->first_norm;
  }

  /// w is a residual of that norm: a cycle begins.
  TASKDAG_TASK static void begin_cycle(const Data& d, double norm) {
    Scalars& s = *d.scalars;
    Control& control = *d.loop.control;
    const bool restarted = control.iterations > 0;
    s.columns = 0;
    s.step = 0;
    if (restarted && !d.flexible && is_far(d, norm)) {
      return d.loop.end(KrylovReason::breakdown);
    }
    if (restarted) --control.kept;
    s.first_norm = norm;
    s.inverse = norm > 0.0 ? 1.0 / norm : 1.0;
    s.rhs = norm;
    d.rhs[0] = norm;
    d.loop.test(norm);
    // Also in KSPFGMRES' place, which would divide by it where there is no norm to be tested.
    if (norm == 0.0 && !(d.flexible && d.loop.ended())) d.loop.end(KrylovReason::absolute_tolerance);
  }

  /// The weights of the basis: the small triangular system.
  struct Weights {
    static constexpr const char* name = "gmres weights";
    Data d;
    TASKDAG_TASK void execute(std::uint32_t /*task*/, double* /*sum*/) const {}
    TASKDAG_TASK void finish(const double* /*sum*/) const {
      const std::uint32_t columns = d.scalars->columns;
      for (std::uint32_t k = columns; k-- > 0;) {
        const Number rest =
            sum_of(d.rhs[k], k + 1, columns, [&](std::size_t j) { return -d.column(j)[k] * d.weight[j]; });
        const Number diagonal = d.column(k)[k];
        // FGMRES goes without a last vector that is of no use; GMRES has ended before.
        d.weight[k] = is_zero(diagonal) && k + 1 == columns ? Number(0.0) : rest / diagonal;
      }
    }
  };

  // ----- Vectors.
  // ------------------------------------------------------------------------------------------------------

  /// w as a vector of the basis, before a preconditioner that is a call.
  struct Normalise {
    static constexpr const char* name = "gmres normalise";
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
      const Number v = d.w[i] * d.scalars->inverse;
      d.w[i] = v;
      d.vector(d.scalars->columns)[i] = v;
    }
  };

  /// u = A M⁻¹ v, M⁻¹ A v or L⁻¹ A R⁻¹ v with v = w over its norm, which becomes a vector of the basis; calls are what
  /// comes before or after.
  struct BasisProduct {
    static constexpr const char* name = "gmres product";
    Data d;
    struct Worker {
      System system;
      const double* w;
      const double* z;
      double* u;
      double* vector;
      double* direction;  ///< null: not kept
      double inverse;
      bool left;
      bool right;
      bool fused;
      [[nodiscard]] TASKDAG_TASK GmresOperand operand() const { return {system, w, z, inverse, right, fused}; }
      template <class Rows>
      TASKDAG_TASK auto part(Rows row, int rank, int size) const {
        if (!right) return system.product_part(row, rank, size, [&](Index j) { return w[j] * inverse; });
        if (!fused) return system.product_part(row, rank, size, [&](Index j) { return z[j]; });
        return system.product_part(
            row, rank, size, [&](Index j) { return system.scaled(static_cast<std::uint32_t>(j), w[j] * inverse); });
      }
      TASKDAG_TASK void execute(std::uint32_t row, double product, double* /*sum*/) const {
        u[row] = left && fused ? system.scaled(row, product) : product;
        if (!right || fused) {
          vector[row] = w[row] * inverse;
        } else if (direction != nullptr) {
          direction[row] = z[row];
        }
      }
    };
    [[nodiscard]] TASKDAG_TASK Worker worker() const {
      const Scalars& s = *d.scalars;
      Number* direction = d.directions != nullptr ? d.directions + s.columns * d.stride : nullptr;
      return {d.system,         reals(d.w), reals(d.z), reals(d.u), reals(d.vector(s.columns)),
              reals(direction), s.inverse,  d.left,     d.right,    !d.apart()};
    }
  };

  /// The dot products of `of` with the basis: a pass of classical Gram–Schmidt.
  struct Dots {
    static constexpr const char* name = "gmres dot products";
    static constexpr int sums = static_cast<int>(at_a_time) * parts;
    static constexpr int blocks_of_a_multiprocessor = 4 / parts;
    static constexpr std::size_t width = parts;
    Data d;
    const Number* of;
    bool again;  ///< in the second pass
    [[nodiscard]] TASKDAG_TASK std::uint32_t slices() const { return d.scalars->columns / at_a_time + 1; }
    [[nodiscard]] std::uint32_t most_slices() const { return (d.restart + at_a_time - 1) / at_a_time; }
    struct Worker {
      const Number* v;  ///< the first vector of the slice
      const Number* of;
      std::size_t stride;
      std::uint32_t count;  ///< of vectors; more than at_a_time: others follow
      TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
        const Number value = of[i];
        if (count >= at_a_time) {
          for (std::uint32_t k = 0; k < at_a_time; ++k) add_product(sum + k * width, v[k * stride + i], value);
        } else {
          for (std::uint32_t k = 0; k < at_a_time; ++k) {
            if (k < count) add_product(sum + k * width, v[k * stride + i], value);
          }
        }
      }
      void execute_run(std::uint32_t begin, std::uint32_t rows, double* sum) const {
        for (std::uint32_t k = 0; k < std::min(count, at_a_time); ++k)
          add_dot(sum + k * width, v + k * stride + begin, of + begin, rows);
      }
      /// By several sums, which do not wait for each other.
      static void add_dot(double* total, const Number* x, const Number* y, std::uint32_t rows) {
        constexpr std::size_t several = 8 / width;
        double sum[8] = {};
        const Number* const end = x + rows;
        for (; x + several <= end; x += several, y += several) {
          for (std::size_t e = 0; e < several; ++e) add_product(sum + e * width, x[e], y[e]);
        }
        for (; x < end; ++x, ++y) add_product(sum, *x, *y);
        for (std::size_t step = width; step < 8; step *= 2) {
          for (std::size_t e = 0; e < 8; e += 2 * step) {
            for (std::size_t part = e; part < e + width; ++part) sum[part] += sum[part + step];
          }
        }
        for (std::size_t part = 0; part < width; ++part) total[part] += sum[part];
      }
    };
    [[nodiscard]] TASKDAG_TASK Worker worker(std::uint32_t slice) const {
      const std::uint32_t first = slice * at_a_time;
      return {d.vector(first), of, d.stride, d.scalars->columns + 1 - first};
    }
    TASKDAG_TASK void finish(std::uint32_t slice, const double* sum) const {
      const std::uint32_t first = slice * at_a_time;
      Number* column = d.column(d.scalars->columns);
      for (std::uint32_t k = first; k < first + at_a_time && k <= d.scalars->columns; ++k) {
        const auto product = number_from<Number>(sum + (k - first) * width);
        d.coefficient[k] = product;
        column[k] = again ? column[k] + product : product;
      }
    }
  };

  /// One step of modified Gram–Schmidt: w without the vector of the basis before, and the dot product with the next.
  struct Step {
    static constexpr const char* name = "gmres step";
    static constexpr int sums = parts;
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
      const std::uint32_t step = d.scalars->step;
      const Number w = step == 0 ? d.image()[i] : d.w[i] - d.coefficient[step - 1] * d.vector(step - 1)[i];
      d.w[i] = w;
      add_product(sum, d.vector(step)[i], w);
    }
    TASKDAG_TASK void finish(const double* sum) const {
      Scalars& s = *d.scalars;
      const auto product = number_from<Number>(sum);
      d.coefficient[s.step] = product;
      d.column(s.columns)[s.step] = product;
      ++s.step;
      d.branch[1].set(s.step <= s.columns);
    }
  };

  /// w = `from` without its parts along the basis, and its norm. `last`: Gram–Schmidt ends with that, if not before.
  /// Then one worker applies the rotations to the new column meanwhile, which waits for the norm alone after that.
  struct Subtract {
    static constexpr const char* name = "gmres subtract";
    static constexpr int sums = 1;
    static constexpr int blocks_of_a_multiprocessor = 4;
    Data d;
    const Number* from;
    bool last;
    struct Worker {
      const Number* from;
      Number* w;
      const Number* basis;
      const Number* coefficient;
      std::size_t stride;
      std::uint32_t first;
      std::uint32_t end;
      TASKDAG_TASK void execute(std::uint32_t i, double* sum) const {
        const Number* v = basis + i;
        const Number now = sum_of(from[i], first, end, [&](std::size_t k) { return -coefficient[k] * v[k * stride]; });
        w[i] = now;
        sum[0] += square(now);
      }
      void execute_run(std::uint32_t begin, std::uint32_t count, double* sum) const {
        std::copy_n(from + begin, count, w + begin);
        std::size_t k = first;
        for (; k + 4 <= end; k += 4) subtract<4>(k, w + begin, count);
        for (; k < end; ++k) subtract<1>(k, w + begin, count);
        for (std::uint32_t i = begin; i < begin + count; ++i) sum[0] += square(w[i]);
      }
      /// Vectors k and the following.
      template <std::size_t vectors>
      void subtract(std::size_t k, Number* rest, std::uint32_t count) const {
        const Number* v = basis + k * stride + (rest - w);
        Number factor[vectors];
        std::copy_n(coefficient + k, vectors, factor);
        for (std::uint32_t i = 0; i < count; ++i) {
          Number now = rest[i];
          for (std::size_t e = 0; e < vectors; ++e) now -= factor[e] * v[e * stride + i];
          rest[i] = now;
        }
      }
    };
    [[nodiscard]] TASKDAG_TASK Worker worker() const {
      const std::uint32_t columns = d.scalars->columns;
      return {from, d.w, d.basis, d.coefficient, d.stride, d.modified ? columns : 0, columns + 1};
    }
    TASKDAG_TASK void aside() const {
      if (last) d.scalars->diagonal = prepare_column(d, d.scalars->columns);
    }
    TASKDAG_TASK void finish(const double* sum) const {
      if (!last && d.refinement == KrylovRefinement::always) return;
      const bool again = !last && has_cancelled(sum[0]);
      if (!last) d.branch[1].set(again);
      if (again) return;
      Scalars s = *d.scalars;
      if (!last) s.diagonal = prepare_column(d, s.columns);
      end_iteration(d, s, sqrt(sum[0]));
    }
    /// Whether w has less than what has been taken from it.
    [[nodiscard]] TASKDAG_TASK bool has_cancelled(double left) const {
      const double taken =
          sum_of(0.0, 0, d.scalars->columns + 1, [&](std::size_t k) { return square(d.coefficient[k]); });
      return sqrt(left) < sqrt(taken);
    }
  };

  /// x += M⁻¹ Σ weights · basis; without M⁻¹, to u, where it is a call that is still to come.
  struct Combine {
    static constexpr const char* name = "gmres correction";
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
      const bool calls = d.right && d.apart();
      const Number* v = (calls && d.flexible ? d.directions : d.basis) + i;
      const Number sum =
          sum_of(Number(0.0), 0, d.scalars->columns, [&](std::size_t k) { return d.weight[k] * v[k * d.stride]; });
      if (calls && !d.flexible) {
        d.u[i] = sum;
      } else if (d.scalars->columns > 0) {
        numbers<Number>(d.loop.control->x)[i] += d.right ? d.system.scaled(i, sum) : sum;
      }
    }
  };

  /// x += z
  struct Add {
    static constexpr const char* name = "gmres addition";
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* /*sum*/) const {
      if (d.scalars->columns > 0) numbers<Number>(d.loop.control->x)[i] += d.z[i];
    }
  };

  /// The norm of a cycle's residual.
  struct FirstNorm {
    static constexpr const char* name = "gmres first norm";
    static constexpr int sums = 1;
    Data d;
    TASKDAG_TASK void execute(std::uint32_t i, double* sum) const { sum[0] += square(d.w[i]); }
    TASKDAG_TASK void finish(const double* sum) const { begin_cycle(d, sqrt(sum[0])); }
  };

  // ----- The loop. -----------------------------------------------------------------------------------------------

  /// x of the columns so far.
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void correct(Flow& flow, const Data& d, const Calls& calls) {
    flow.stage(Weights{d}, 1);
    flow.stage(Combine{d}, elements_of<Number>(d.system));
    if (d.right && d.apart() && !d.flexible) {
      precondition(flow, d.system, calls, reals(d.u), reals(d.z), d.right_part());
      flow.stage(Add{d}, elements_of<Number>(d.system));
    }
  }

  /// The end of a cycle and the begin of the next one.
  template <class Flow>
  struct Restart {
    Flow& flow;
    const Data& d;
    const Calls& calls;
    TASKDAG_ENGINE_ANY_SIDE
    TASKDAG_TASK void operator()() const {
      correct(flow, d, calls);
      multiply(flow, d.system, Residual{d.loop, d.system, reals(d.left ? d.u : d.w)});
      if (d.left) precondition(flow, d.system, calls, reals(d.u), reals(d.w), d.left_part());
      flow.stage(FirstNorm{d}, elements_of<Number>(d.system));
    }
  };

  /// The second pass of classical Gram–Schmidt.
  template <class Flow>
  struct Refine {
    Flow& flow;
    const Data& d;
    TASKDAG_ENGINE_ANY_SIDE
    TASKDAG_TASK void operator()() const {
      flow.stage(Dots{d, d.w, true}, elements_of<Number>(d.system));
      flow.stage(Subtract{d, d.w, true}, elements_of<Number>(d.system));
    }
  };

  /// One more step of modified Gram–Schmidt.
  template <class Flow>
  struct NextStep {
    Flow& flow;
    const Data& d;
    TASKDAG_ENGINE_ANY_SIDE
    TASKDAG_TASK void operator()() const { flow.stage(Step{d}, elements_of<Number>(d.system)); }
  };

  /// From the product to the test.
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void orthogonalise(Flow& flow, const Data& d) {
    if (d.modified) {
      flow.stage(Step{d}, elements_of<Number>(d.system));
      flow.repeat(d.branch[1], NextStep<Flow>{flow, d});
      flow.stage(Subtract{d, d.w, true}, elements_of<Number>(d.system));
      return;
    }
    flow.stage(Dots{d, d.image(), false}, elements_of<Number>(d.system));
    flow.stage(Subtract{d, d.image(), d.refinement == KrylovRefinement::never}, elements_of<Number>(d.system));
    const Refine<Flow> refine{flow, d};
    if (d.refinement == KrylovRefinement::always) refine();
    if (d.refinement == KrylovRefinement::if_needed) flow.when(d.branch[1], refine);
  }

  /// An iteration but for what comes after a cycle.
  template <class Flow>
  struct Iteration {
    Flow& flow;
    const Data& d;
    const Calls& calls;
    TASKDAG_ENGINE_ANY_SIDE
    TASKDAG_TASK void operator()() const {
      if (d.right && d.apart()) {
        flow.stage(Normalise{d}, elements_of<Number>(d.system));
        precondition(flow, d.system, calls, reals(d.w), reals(d.z), d.right_part());
      }
      multiply(flow, d.system, BasisProduct{d});
      if (d.left && d.apart()) precondition(flow, d.system, calls, reals(d.u), reals(d.z), d.left_part());
      orthogonalise(flow, d);
    }
  };

  static constexpr int turns_at_once = 5;
  static constexpr int calls_at_once = 2;

  static Data prepare(Workspace& work, const LoopInput& input) {
    const KrylovOptions& options = input.options;
    check_options(options);
    Data d{};
    d.at_once = 1;
    d.system = input.system;
    d.norm = options.norm;
    d.restart = static_cast<std::uint32_t>(options.restart);
    d.breakdown_tolerance = options.breakdown_tolerance;
    d.happy_tolerance = options.happy_tolerance;
    d.flexible = options.method == KrylovMethod::fgmres;
    d.left = options.side != KrylovSide::right;
    d.right = options.side != KrylovSide::left;
    d.system.diagonal_of_parts = options.side == KrylovSide::symmetric;
    if (d.right) d.system.null_space = {};  // as PETSc, which removes it from what M⁻¹ gives on the left alone
    d.modified = options.orthogonalisation == KrylovOrthogonalisation::modified;
    d.refinement = d.modified ? KrylovRefinement::never : options.refinement;
    make_vectors(work, d);
    make_small_system(work, d);
    if (options.coefficients) d.hessenberg = work.make<Number>((std::size_t{d.restart} + 1) * d.restart);
    return d;
  }
  template <class Flow>
  static void start(Flow& flow, const Data& d, const Calls& calls, const Start& start) {
    first_residual<Number>(flow, d.loop, d.system, calls, start.guess, start.b, d.norm, reals(d.left ? d.u : d.w),
                           reals(d.basis));
    if (d.left) precondition(flow, d.system, calls, reals(d.u), reals(d.w), d.left_part());
    flow.stage(FirstNorm{d}, elements_of<Number>(d.system));
  }
  /// Iterations of a cycle between two looks whether it goes on.
  template <class Flow>
  struct Stretch {
    const Iteration<Flow>& iteration;
    TASKDAG_ENGINE_ANY_SIDE
    TASKDAG_TASK void operator()() const {
      iteration();
      for (int k = 1; k < iteration.d.at_once; ++k) iteration.flow.guard(iteration.d.branch[2], iteration);
    }
  };
  /// An iteration, and where nothing branches inside of it the rest of its cycle: the host's or the graph's look at
  /// what comes next takes as long as two stages.
  TASKDAG_ENGINE_ANY_SIDE
  template <class Flow>
  TASKDAG_TASK static void turn(Flow& flow, const Data& d, const Calls& calls) {
    const Iteration<Flow> iteration{flow, d, calls};
    if (d.branch[2].word != nullptr) {
      const Stretch<Flow> stretch{iteration};
      stretch();
      flow.repeat(d.branch[2], stretch);
    } else {
      iteration();
    }
    flow.when(d.branch[0], Restart<Flow>{flow, d, calls});
  }
  template <class Flow>
  static void end(Flow& flow, const Data& d, const Calls& calls) {
    correct(flow, d, calls);
  }
  /// In the middle of a cycle; a refinement that may be needed is not.
  static int stages(const Data& d) {
    const int normalise = d.right && d.apart() ? 1 : 0;
    if (d.modified) return normalise + 2 + half(d);
    return normalise + (d.refinement == KrylovRefinement::always ? 5 : 3);
  }
  /// Product: w, a vector of the basis, u, and the diagonal; classical Gram–Schmidt: the basis twice a pass, u twice
  /// and w; modified: two of the basis and w twice a step.
  static int passes(const Data& d) {
    const int normalise = d.right && d.apart() ? 2 : 0;
    const int product = normalise + 3 + (d.system.preconditioning == Preconditioning::diagonal ? 1 : 0);
    if (d.modified) return product + 4 * half(d) + 3;
    return product + (2 * half(d) + 3) * (d.refinement == KrylovRefinement::always ? 2 : 1);
  }
  static int products(const Data& /*d*/) { return 1; }
  template <class Copy>
  static std::vector<double> hessenberg(const Data& d, const Copy& copy) requires(!is_complex<Number>) {
    return copy(d.hessenberg, (std::size_t{d.restart} + 1) * copy(d.scalars, 1).front().columns);
  }
  static std::size_t sliced_sums(const Data& d) { return (std::size_t{d.restart} + at_a_time) * parts; }

 private:
  /// Vectors of the basis in the middle of a cycle.
  static int half(const Data& d) { return static_cast<int>((d.restart + 1) / 2); }

  static void make_vectors(Workspace& work, Data& d) {
    d.stride = work.stride() / parts;
    d.basis = numbers<Number>(work.vectors(d.restart));
    if (d.apart() && d.right && d.flexible) d.directions = numbers<Number>(work.vectors(d.restart));
    if (d.apart()) d.z = numbers<Number>(work.vector());
    d.w = numbers<Number>(work.vector());
    d.u = numbers<Number>(work.vector());
  }
  static void make_small_system(Workspace& work, Data& d) {
    d.scalars = work.make<Scalars>(1);
    d.matrix = work.make<Number>(std::size_t{d.restart} * d.restart);
    d.cosine = work.make<Number>(d.restart);
    d.sine = work.make<double>(d.restart);
    d.rhs = work.make<Number>(std::size_t{d.restart} + 1);
    d.weight = work.make<Number>(d.restart);
    d.coefficient = work.make<Number>(d.restart);
    d.branch[0].word = work.make<std::uint32_t>(1);
    // No branch is inside another one.
    const bool branches = d.modified || d.refinement == KrylovRefinement::if_needed;
    d.branch[branches ? 1 : 2].word = work.make<std::uint32_t>(1);
  }
};

}  // namespace

std::unique_ptr<Loop> make_gmres(const LoopInput& input) { return make_loop_of_numbers<Gmres>(input); }

}  // namespace taskdag::krylov
