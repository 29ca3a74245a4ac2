#include "fault/trial.hpp"

#include <limits>

#include "backend/measure.hpp"
#include "backend/problems.hpp"
#include "fault/say.hpp"

namespace taskdag::test {

Trial::Trial(const Context& context, const Subject& subject, const CsrMatrix& a)
    : context_(context), subject_(subject), a_(subject.matrix(a)) {
  const auto elements = static_cast<Index>(rows());
  for (int k = 0; k < kSides; ++k) sides_.push_back(cuda::upload(numbered_side(elements, k), stream(0)));
  for (const std::vector<double>& set : {a_.values, other_values(a_.values)}) {
    values_.push_back(cuda::upload(set, stream(0)));
  }
}

cuda::DeviceArray<double> Trial::solutions(int count) const {
  const std::vector<double> nothing(rows() * static_cast<std::size_t>(count), std::numeric_limits<double>::quiet_NaN());
  return cuda::upload(nothing, stream(0));
}

void Trial::expect(const double* x, int side, int set, const std::string& what) {
  const std::vector<double>& right = expected(side, set);
  cuda::check(cudaDeviceSynchronize(), "waiting for the device");
  const std::vector<double> result = cuda::fetch_array(x, rows(), stream(0));
  if (!same_bits(result, right)) wrong(what + ": not the bits of the first solve");
}

const std::vector<double>& Trial::expected(int side, int set) {
  const auto found = expected_.find({side % kSides, set});
  if (found != expected_.end()) return found->second;
  const auto solver = make();
  if (set != 0) solver->load(values(set), MemorySpace::device, handle(0));
  const cuda::DeviceArray<double> x = solutions(1);
  solver->solve(this->side(side), x.data(), MemorySpace::device, handle(0));
  std::vector<double> first = cuda::fetch_array(x.data(), rows(), stream(0));
  const std::vector<double> reference = solver->reference(cuda::fetch_array(values(set), entries(), stream(0)),
                                                          numbered_side(static_cast<Index>(rows()), side % kSides));
  if (!(difference(first, reference) <= kForwardBound)) wrong("the first solve is not the reference's result");
  return expected_[{side % kSides, set}] = std::move(first);
}

CapturedGraph::CapturedGraph(cudaGraph_t graph) {
  const cudaError_t made = cudaGraphInstantiate(&executable_, graph, 0);
  static_cast<void>(cudaGraphDestroy(graph));
  cuda::check(made, "instantiating a captured graph");
}

CapturedGraph::~CapturedGraph() {
  if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
}

}  // namespace taskdag::test
