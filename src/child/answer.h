/* answer.h: what a server answered, kept within limits, and told as the outputs of the job. */
#ifndef REEVE_ANSWER_H
#define REEVE_ANSWER_H

#include <stdio.h>

#include "arena.h"
#include "buf.h"
#include "err.h"

#define ANSWER_HEADERS_MAX 128u
#define ANSWER_RETRY_MS_MAX UINT32_MAX /* about 50 days */
#define ANSWER_HEAD_BYTES_MAX 65536u   /* names and values together: more is no head but an attack */

struct answer_header {
    struct slice name, value; /* the name in small letters */
};

struct answer {
    struct arena arena;
    struct answer_header headers[ANSWER_HEADERS_MAX];
    uint32_t header_count;
    size_t head_bytes;
    struct buf body;
    FILE *file; /* or: where it goes */
    uint64_t bytes, bytes_max;
    struct why why; /* set when a limit ended it */
};

void answer_init(struct answer *a, uint64_t bytes_max, FILE *file);
void answer_fini(struct answer *a);
/* Nothing was answered yet: before each hop. */
void answer_again(struct answer *a);
/* False: it goes beyond a limit, or the file cannot be written; `why` says so. */
bool answer_head_line(struct answer *a, struct slice line);
bool answer_body(struct answer *a, struct slice bytes);
/* How long the server wants to be left alone, by its Retry-After: seconds, or a date, which is compared with the
 * server's own clock (its Date) or, without one, with `now_s`. 0: it does not say, or the time is over. */
uint32_t answer_retry_ms(const struct answer *a, int64_t now_s);
struct slice answer_header(const struct answer *a, const char *name); /* empty: there is none */
/* {"status":200,"url":"…","headers":{…},"json":…}; `saved`: the name of the file, or empty. */
void answer_tell(const struct answer *a, uint32_t status, struct slice url, struct slice saved, struct buf *out);

#endif
