// Deterministic colouring on CUDA: the serial result.
#include "backends/cuda/memory.hpp"
#include "device_fixture.hpp"
#include "graph_problems.hpp"
#include "kernels/ordering/colouring/colour_cuda.hpp"

namespace taskdag {
namespace {

using kernels::ColourOptions;
using kernels::ColourOrder;

class GraphColourOnDevice : public test::OnDevice<> {
 protected:
  kernels::Colouring colour(const CsrMatrix& graph, const ColourOptions& options) {
    const cuda::DeviceArray<Offset> offsets(graph.row_offsets.size(), stream());
    const cuda::DeviceArray<Index> columns(graph.col_indices.size(), stream());
    const cuda::DeviceArray<Index> result(static_cast<std::size_t>(graph.rows), stream());
    cuda::copy_to_device(offsets.data(), graph.row_offsets.data(), graph.row_offsets.size(), stream());
    cuda::copy_to_device(columns.data(), graph.col_indices.data(), graph.col_indices.size(), stream());
    kernels::Colouring found;
    found.colours = kernels::cuda_colour_graph({graph.rows, graph.entries(), offsets.data(), columns.data()}, options,
                                               result.data(), stream());
    found.colour = cuda::fetch_array(result.data(), static_cast<std::size_t>(graph.rows), stream());
    return found;
  }
};

TEST_F(GraphColourOnDevice, GivesTheSerialResult) {
  for (const test::GraphProblem& problem : test::graph_problems()) {
    for (const ColourOrder order : {ColourOrder::natural, ColourOrder::hashed, ColourOrder::degree}) {
      for (const int improvements : {0, 1, 3}) {
        SCOPED_TRACE(problem.name + ", order " + std::to_string(static_cast<int>(order)) + ", improvements " +
                     std::to_string(improvements));
        const ColourOptions options{.order = order, .seed = 7, .improvements = improvements};
        const kernels::Colouring expected = kernels::reference_colour(problem.graph.pattern(), options);
        const kernels::Colouring found = colour(problem.graph, options);
        EXPECT_EQ(found.colours, expected.colours);
        EXPECT_EQ(found.colour, expected.colour);
      }
    }
  }
}

TEST_F(GraphColourOnDevice, AnEmptyGraphHasNoColours) { EXPECT_EQ(colour({}, {}).colours, 0); }

}  // namespace
}  // namespace taskdag
