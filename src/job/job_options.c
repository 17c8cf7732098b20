/* job_options.c: words of options; see job_options.h. */
#include "job_options.h"

const char *const on_upstream_words[UPSTREAM_COUNT] = {"fail", "skip", "run"};
