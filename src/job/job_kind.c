/* job_kind.c: the table of kinds as data; see job_kind.h. */
#include "job_kind.h"

const struct job_kind_row job_kind_rows[JOB_KIND_COUNT] = {
#define X(kind, word, ends, runs, asks) {ends, runs, asks},
    JOB_KIND_TABLE(X)
#undef X
};

const char *const job_kind_words[JOB_KIND_COUNT] = {
#define X(kind, word, ends, runs, asks) word,
    JOB_KIND_TABLE(X)
#undef X
};
