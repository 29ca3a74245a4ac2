/// \file
/// Symbol visibility of the public interface: the library is built with hidden visibility, TASKDAG_API marks what
/// leaves it.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define TASKDAG_API __attribute__((visibility("default")))
#else
#define TASKDAG_API
#endif
