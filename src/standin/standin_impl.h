/* standin_impl.h: what the files of the understudy share. */
#ifndef REEVE_STANDIN_IMPL_H
#define REEVE_STANDIN_IMPL_H

#include "standin_server.h"

struct standin_said {
    uint16_t status;
    uint32_t retry_after_s; /* 0 = not said */
    bool head_only;
};

int64_t standin_wall_ms(void);
/* Head and body, as JSON; 204 has none. */
void standin_put(struct buf *out, const struct standin_said *said, const struct buf *body);
/* Whether a page of this origin may use Orion's interface; the lines that tell it, into a head that was put. */
bool standin_is_allowed(const struct standin *u, struct slice origin);
void standin_insert_cors(struct buf *out, struct slice origin);
/* Whether the caller may start the server. */
CHECKED enum err standin_check(const struct standin *u, const struct http_request *r, struct why *why);
bool standin_orion(struct standin *u, const struct http_request *r, struct buf *out);

#endif
