/* json.h: a bounded JSON writer. It writes well-formed text or marks the buffer full; commas are its business.
 * Text that is not UTF-8 is written with U+FFFD in place of each bad byte. */
#ifndef REEVE_JSON_H
#define REEVE_JSON_H

#include "buf.h"

#define JSON_DEPTH_MAX 32

struct json {
    struct buf *out;
    uint32_t depth;
    uint32_t comma; /* bit per depth: a member was written already */
};

void json_init(struct json *j, struct buf *out);
void json_object(struct json *j); /* opens { */
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);
void json_key(struct json *j, const char *key);
void json_key_own(struct json *j, const char *key); /* one that is written in our source: it needs no escapes */
void json_text(struct json *j, struct slice s);
void json_str(struct json *j, const char *text);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
void json_hex(struct json *j, struct slice s);
void json_base64(struct json *j, struct slice s);
void json_raw(struct json *j, struct slice value); /* a value that is JSON already, which the caller knows */
void json_key_slice(struct json *j, struct slice key);

#endif
