/* resp.h: RESP, the protocol of Redis: commands in, replies out.
 *
 * A command is an array of strings, `*2\r\n$3\r\nGET\r\n$1\r\nk\r\n`; where it is allowed also a line of words. Replies
 * are of RESP2, and after HELLO 3 of RESP3, which has maps, sets, nulls and pushes of its own.
 *
 * The reader takes bytes as they come, in any pieces, and looks at each of them once. What it refuses it refuses for
 * good: nobody knows where the next command would begin. */
#ifndef REEVE_RESP_H
#define REEVE_RESP_H

#include "buf.h"
#include "err.h"
#include "vec.h"

#define RESP_LINE_BYTES_MAX 65536u /* a command as a line, as in Redis */

struct resp_rules {
    uint32_t args_max;
    uint32_t bulk_bytes_max; /* one argument */
    bool lines;              /* commands as lines of words, too */
};

struct resp_in {
    size_t at;        /* bytes of the command that were looked at */
    uint32_t wanted;  /* arguments that its array announces; 0 = not known yet */
    struct vec spans; /* of those that are there */
    struct buf words; /* of a line, without their quotes */
    struct vec args;  /* struct slice: of a whole command, valid while its bytes are */
};

enum resp_got {
    RESP_MORE,    /* the command is not whole: call again with the same bytes and those behind them */
    RESP_COMMAND, /* `args` has it, *ret_used bytes are its own; perhaps it has no words at all */
    RESP_BAD,     /* *why says what is wrong, in the words of Redis */
};

void resp_in_init(struct resp_in *r);
void resp_in_fini(struct resp_in *r);
enum resp_got resp_take(struct resp_in *r, struct slice in, const struct resp_rules *rules, size_t *ret_used,
                        struct why *why);

/* ---- replies ---- */

struct resp_out {
    struct buf *to;
    uint8_t version; /* 2 or 3 */
};

void resp_simple(struct resp_out *o, const char *text);
void resp_error(struct resp_out *o, const char *text); /* "ERR what is wrong"; line breaks become spaces */
void resp_errorf(struct resp_out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void resp_number(struct resp_out *o, int64_t number);
void resp_bulk(struct resp_out *o, struct slice text);
void resp_text(struct resp_out *o, const char *text);
void resp_verbatim(struct resp_out *o, struct slice text); /* for people, with its lines */
void resp_nil(struct resp_out *o);
void resp_nil_array(struct resp_out *o); /* in place of an array */
void resp_array(struct resp_out *o, uint64_t count);
void resp_map(struct resp_out *o, uint64_t pairs); /* by RESP2 an array of twice as many */
void resp_set(struct resp_out *o, uint64_t count);
void resp_push(struct resp_out *o, uint64_t count);

#endif
