#include "taskdag/engine/phase.hpp"

#include <gtest/gtest.h>

#include "taskdag/engine/program.hpp"

namespace taskdag::test {
namespace {

using engine::Phase;
using engine::Phaseless;
using engine::PhaseQueue;

struct A {
  using Item = int;
};
struct B {
  using Item = int;
};
struct C {
  using Item = int;
};
struct D {
  using Item = int;
};
struct E {
  using Item = int;
  using Creates = engine::Types<A, D>;
};
struct Stranger {};

// The thesis' table 4.1: ranges of type numbers, at compile time.
using Queue = PhaseQueue<Phaseless<A>, Phase<B, C>, Phase<D>, Phase<E>>;
static_assert(Queue::types == 5);
static_assert(Queue::phases == 3);
static_assert(Queue::begin(-1) == 0 && Queue::end(-1) == 1);
static_assert(Queue::begin(0) == 1 && Queue::end(0) == 3);
static_assert(Queue::begin(1) == 3 && Queue::end(1) == 4);
static_assert(Queue::begin(2) == 4 && Queue::end(2) == 5);
static_assert(Queue::index_of<A> == 0 && Queue::index_of<B> == 1 && Queue::index_of<E> == 4);
static_assert(Queue::phase_of(0) == -1 && Queue::phase_of(1) == 0 && Queue::phase_of(2) == 0);
static_assert(Queue::phase_of(3) == 1 && Queue::phase_of(4) == 2);
static_assert(Queue::contains<D> && !Queue::contains<Stranger>);

using OnlyPhaseless = PhaseQueue<Phaseless<A, B>>;
static_assert(OnlyPhaseless::phases == 0 && OnlyPhaseless::end(-1) == 2);
static_assert(OnlyPhaseless::phase_of(1) == -1);

using OnlyPhases = PhaseQueue<Phaseless<>, Phase<A>, Phase<B>>;
static_assert(OnlyPhases::begin(-1) == 0 && OnlyPhases::end(-1) == 0);
static_assert(OnlyPhases::phase_of(0) == 0 && OnlyPhases::phase_of(1) == 1);

struct Nothing {};
using Program = engine::Program<Nothing, Queue>;
static_assert(Program::number_of<D>() == 3 && Program::phase_of<D>() == 1);

TEST(Phases, TypesNumberThroughWithoutGaps) {
  int next = 0;
  for (int phase = -1; phase < Queue::phases; ++phase) {
    EXPECT_EQ(Queue::begin(phase), next);
    for (int type = Queue::begin(phase); type < Queue::end(phase); ++type) EXPECT_EQ(Queue::phase_of(type), phase);
    next = Queue::end(phase);
  }
  EXPECT_EQ(next, Queue::types);
}

TEST(Phases, APhaseRunsItsOwnTypesAndThePhaselessOnes) {
  for (int type = 0; type < Queue::types; ++type) {
    for (int phase = -1; phase < Queue::phases; ++phase) {
      const bool own = Queue::phase_of(type) == phase || Queue::phase_of(type) == -1;
      EXPECT_EQ(engine::detail::runs_in<Program>(type, phase), own) << type << " in " << phase;
    }
  }
}

TEST(Phases, ATypeCreatesAnyTypeUnlessItSaysWhich) {
  EXPECT_EQ(Program::creates<A>(), 0b11111U);
  EXPECT_EQ(Program::creates<E>(), 0b01001U);
}

}  // namespace
}  // namespace taskdag::test
