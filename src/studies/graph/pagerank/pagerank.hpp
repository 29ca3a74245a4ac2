/// \file
/// PageRank by residues: rank = (1 − λ) + λ Σ rank_u / degree_u over the neighbours u, not normalised (the ranks of a
/// graph without lone vertices add up to their number). A vertex whose residue is above a threshold adds it to its rank
/// and hands λ times it on to its neighbours, in equal shares.
/// Source of the forms: Chen et al. 2022 (Atos), algorithms 3 and 4.
#pragma once

#include "studies/graph/algorithm.hpp"

namespace taskdag::graph {

struct PagerankOptions {
  float damping = 0.85F;    ///< λ
  float threshold = 1e-4F;  ///< ε: residues up to it stay where they are
};

/// What the ranks of any form may differ from the fixed point, in the mean over the vertices (the 1-norm over their
/// number): residues of ε left at each vertex amount to ε / (1 − λ), and twice as much allows for single precision.
double pagerank_tolerance(const PagerankOptions& options);

/// Serial, double precision, to the fixed point: the oracle. @pre in all functions: `graph` has symmetric structure
std::vector<double> reference_pagerank(const CsrPattern& graph, const PagerankOptions& options);

/// The same for graphs that the fixed point takes too long for: what the mean of |found − fixed point| is at most. From
/// the residual of `found`: whatever is handed on grows less by 1 − λ each time. One pass over the edges, serial,
/// double precision. HUGE_VAL where a rank is missing or no number.
double pagerank_error_bound(const CsrPattern& graph, const std::vector<float>& found, const PagerankOptions& options);

/// Mean of |found − expected|.
double pagerank_error(const std::vector<float>& found, const std::vector<double>& expected);

/// @throws InvalidInput for a form that is not compiled; Unsupported for bsp_graph on the host
std::unique_ptr<Algorithm<float>> make_pagerank(const Context& context, const CsrPattern& graph,
                                                const PagerankOptions& options, const Form& form);

}  // namespace taskdag::graph
