/// \file
/// What a Krylov method is to its loop.
///
/// A method is a struct with
///   using Data                             what its stages see: trivially copyable; has `LoopState loop`, which the
///   loop
///                                          fills in, and `KrylovNorm norm`
///   Data prepare(Workspace&, LoopInput)    its vectors; @throws InvalidInput for options that it does not have
///   void start(Flow&, Data, Calls, Start)  the stages up to the test of iteration 0
///   void turn(Flow&, Data, Calls)          the stages of an iteration. The last of them to finish has tested it.
///                                          It may go on with others as long as there is one now (again)
///   void end(Flow&, Data, Calls)           what is left to be done for x when the loop has ended
///   int stages(Data)                       of an iteration
///   int passes(Data)                       vectors that an iteration reads or writes, each once a stage, without those
///                                          of the preconditioner's call; the matrix is read once a product
///   int products(Data)                     of an iteration
///   int applications                       of the preconditioner in an iteration, where it is not one
/// and, where it is so,
///   LoopCondition branch[…] in its Data    what its turn branches on (flow.when(), flow.repeat(), not one inside the
///                                          other); those in use have a word from prepare()
///   std::size_t sliced_sums(Data)          numbers that a stage adds up in all its slices at most
///   std::vector<double> hessenberg(Data, copy)  KrylovOutcome::hessenberg, where it keeps that in place of pairs
///   beside
///                                          norms; copy(pointer, count) fetches an array of the backend
/// all static; start(), turn() and end() are templates over the flow, turn() TASKDAG_TASK. Where a stage ends the loop
/// (LoopState::end(), write_within()) the stages after it in the turn may still run, or may not: those that change x
/// look at LoopState::ended() first. A method may also have
///   int turns_at_once                      where the last stage of a turn is the one that tests: so many turns are
///                                          launched between two looks whether there is another one. Once there is
///                                          none, their stages are not run. With `int at_once` in its Data one turn is,
///                                          which has so many iterations between its own looks
///   int calls_at_once                      the same where there are calls, of few rows: those of a turn whose stages
///                                          do nothing must change nothing that a later turn reads
///   template <class Number> struct Method  where sums and scalars of a complex system are complex numbers (number.hpp)
///                                          and vectors are gone through by these; others compute with the parts
///   Data at(Column) in its Data            that of another column: what of it each column has. The loop may have
///                                          several then. All branches of turn() are taken by the host
///   OneBlock one_block()                   where the form one-block is the faster one: then there is that form; up to
///                                          three numbers are added up in a stage
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "krylov/columns.hpp"
#include "krylov/loop.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {

/// The largest systems that one kernel solves faster than the launches of a graph.
struct OneBlock {
  std::uint32_t rows;            ///< with one thread block
  std::int64_t cluster_entries;  ///< entries and rows, with a cluster of blocks
};

/// Whether the operand of a product that consists of so many vectors has a stage of its own, before the product. On
/// CUDA one launch less is worth more, as long as the product finds the vectors in the caches; not with several
/// columns.
inline bool operand_apart(const LoopInput& input, std::uint32_t vectors) {
  return input.context.backend() == Backend::host || input.columns() > 1 ||
         std::uint64_t{input.most_rows} * vectors > 5000000;
}

/// @throws Unsupported where the loop is to have several columns and the method has one
template <class Method>
RightHandSides columns_of(const LoopInput& input, const Workspace& work, const std::uint32_t* at_work) {
  if (input.columns() > 1 && !has_columns<Method>)
    throw Unsupported(std::string(to_string(input.options.method)) + " solves for one right-hand side at a time");
  return {input.columns(), work.stride(), at_work};
}

/// The control of a solve that begins, of its first column.
inline Control control_of(const Start& start, KrylovNorm norm, std::int64_t pause_at) {
  const KrylovTolerances& t = start.tolerances;
  Control control{};
  control.b = start.b;
  control.x = start.x;
  control.relative = t.relative;
  control.absolute = t.absolute;
  control.divergence = t.divergence;
  control.limit = t.iterations;
  control.least = t.least_iterations;
  control.pause_at = pause_at;
  control.guess = start.guess ? 1U : 0U;
  control.from_initial_residual = t.from_initial_residual ? 1U : 0U;
  control.from_smaller = t.from_smaller ? 1U : 0U;
  control.norm = static_cast<std::uint32_t>(norm);
  return control;
}

/// That of column `column`, from the first one's. Where the solve has less columns than the loop, the others have
/// ended.
TASKDAG_TASK inline Control control_of(Control first, std::uint32_t column, std::uint32_t columns, std::int64_t ldb,
                                       std::int64_t ldx) {
  if (column >= columns) {
    first.reason = static_cast<std::int32_t>(KrylovReason::iterations);
    return first;
  }
  first.b += column * ldb;
  first.x += column * ldx;
  return first;
}

/// Bytes that an iteration reads and writes, each array once a stage, without the preconditioner's call.
template <class Method>
double bytes_of_iteration(const typename Method::Data& data, std::int64_t entries, std::uint32_t columns) {
  const auto rows = static_cast<double>(data.system.rows);
  const double parts = data.system.complex ? 2.0 : 1.0;
  const double block = data.system.block;
  const double place = data.system.distance != nullptr ? sizeof(std::int16_t) : sizeof(Index);
  const double together = data.system.together;
  const double matrix = static_cast<double>(entries) * (parts * sizeof(double) + place / (block * block * together)) +
                        rows / (parts * block * together) * sizeof(Offset);
  return Method::products(data) * matrix + Method::passes(data) * rows * sizeof(double) * columns;
}

/// KrylovOutcome's coefficients; copy: as above.
template <class Method, class Copy>
void add_coefficients(const typename Method::Data& data, std::size_t count, const Copy& copy, KrylovOutcome& outcome) {
  if constexpr (requires { Method::hessenberg(data, copy); }) {
    outcome.hessenberg = Method::hessenberg(data, copy);
  } else {
    const std::vector<double> pairs = copy(data.loop.coefficients, 2 * count);
    for (std::size_t k = 0; k < pairs.size(); k += 2) {
      outcome.alpha.push_back(pairs[k]);
      outcome.beta.push_back(pairs[k + 1]);
    }
  }
}

/// What does not depend on the backend; form, its reason and memory beside the workspace are the backend's to say.
template <class Method>
KrylovInfo info_of(const typename Method::Data& data, std::int64_t entries, const Workspace& work,
                   std::uint32_t columns) {
  if constexpr (requires { Method::turns_at_once; }) static_assert(Method::turns_at_once > 0);
  KrylovInfo info;
  info.stages = Method::stages(data);
  if constexpr (requires { Method::applications; }) info.applications = Method::applications;
  info.bytes_of_iteration = bytes_of_iteration<Method>(data, entries, columns);
  info.rows_together = static_cast<int>(data.system.together);
  info.vectors = work.vectors();
  info.bytes = work.bytes();
  if (data.system.distance != nullptr) info.bytes += entries * static_cast<std::int64_t>(sizeof(std::int16_t));
  return info;
}

}  // namespace taskdag::krylov
