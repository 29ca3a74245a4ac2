#!/usr/bin/env bash
# Each call of CUDA's runtime that the library's layers make is one that failing_cuda.cpp stands in for, or is listed here
# with the reason why it need not be: a call that nothing counts could wait, copy or fail unseen.
# usage: calls_are_known.sh FOLDER CALL...
#   FOLDER               where the layers' archives lie
#   CALL...              the calls that failing_cuda.cpp stands in for
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,6s/^# \?//p' "$0" >&2 && exit 2; }
folder=$1
shift
known=("$@"
  # They ask, and change nothing.
  cudaDeviceGetAttribute cudaDriverGetVersion cudaEventElapsedTime cudaFuncGetAttributes cudaGetDevice cudaGetDeviceCount
  cudaGetDeviceProperties cudaGetErrorName cudaGetErrorString cudaGraphGetNodes cudaGraphKernelNodeGetParams cudaMemGetInfo cudaMemPoolGetAttribute
  cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
  cudaOccupancyMaxActiveClusters cudaStreamGetCaptureInfo cudaStreamGetId cudaStreamIsCapturing
  # They name a device, a mode or a limit.
  cudaMemPoolSetAttribute cudaMemPoolTrimTo cudaSetDevice cudaThreadExchangeStreamCaptureMode
  # Made once a process, by whoever is first.
  cudaMemPoolCreate
  # What is recorded into a graph with a loop: the graph counts, and is given up as a whole.
  cudaGraphAddNode cudaGraphConditionalHandleCreate cudaStreamBeginCaptureToGraph cudaStreamUpdateCaptureDependencies
  # Memory that ranks share: backend_krylov_processes and the plugin's tests on several ranks have its failures.
  cudaHostRegister cudaIpcCloseMemHandle cudaIpcGetMemHandle cudaIpcOpenMemHandle cudaMemset)
mapfile -t archives < <(find "$folder" -name 'libtaskdag_*.a')
[ ${#archives[@]} -gt 0 ] || { echo "no archives in $folder" && exit 1; }
calls=$(nm --undefined-only "${archives[@]}" 2>/dev/null | awk '$1 == "U" && $2 ~ /^cuda[A-Z]/ { print $2 }' | sort -u)
[ "$(wc -l <<<"$calls")" -ge 20 ] || { echo "hardly a call was found in $folder" && exit 1; }
unknown=$(comm -23 <(echo "$calls") <(printf '%s\n' "${known[@]}" | sort -u))
[ -z "$unknown" ] || { echo "calls that no test counts:" && echo "$unknown" && exit 1; }
