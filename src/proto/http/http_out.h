/* http_out.h: heads and chunks of HTTP/1.1 answers. Each head carries its date and what keeps a browser from doing more
 * with an answer than showing it; none tells which program or version wrote it. */
#ifndef REEVE_HTTP_OUT_H
#define REEVE_HTTP_OUT_H

#include "buf.h"

/* In place of a length: */
#define HTTP_UNTIL_CLOSE (-1) /* the body ends with the connection, for HTTP/1.0 */
#define HTTP_CHUNKED (-2)
#define HTTP_NO_BODY (-3) /* of 204: none is told */

struct http_date { /* the line of one second, kept by who answers often */
    int64_t second;
    char line[48];
};

struct http_head {
    uint16_t status;
    const char *type;   /* of the body; NULL = there is none */
    int64_t length;     /* bytes, or one of the above */
    bool close;         /* the connection ends with this answer */
    int64_t wall_ms;    /* now */
    struct http_date *date; /* kept from one head to the next; NULL = made anew */
    const char *range;      /* which part of the whole it is; NULL = it is all of it */
    uint32_t retry_after_s; /* 0 = not said */
    const char *allow;      /* methods; NULL = not said */
    /* Of pages and files for browsers; NULL = not said, but for the first two: */
    const char *cache;    /* how long it may be kept; NULL = not at all */
    const char *policy;   /* what a page may load; NULL = nothing */
    const char *etag;     /* with its quotes */
    const char *encoding; /* of the body */
    const char *location; /* to go to instead */
    const char *cookie;   /* to be kept and sent again, with its attributes */
};

void http_head_put(struct buf *out, const struct http_head *h);
void http_continue_put(struct buf *out);
void http_chunk_put(struct buf *out, struct slice data); /* empty: nothing, for that would be the last */
void http_chunk_last(struct buf *out);

const char *http_reason(uint16_t status);

#endif
