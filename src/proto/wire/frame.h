/* frame.h: native v2, the frames. 16 bytes of header, big-endian, then the body:
 *
 *      0        1        2        3        4..7          8..11         12..15
 *     version  opcode   flags    zero     request id    zero          bytes of the body
 *
 * A request carries an id that its sender chose, not 0, and every frame that answers it carries the same id with
 * FRAME_ANSWER; FRAME_MORE says that it is not the last. A frame with id 0 expects no answer. What the body of an
 * opcode holds is the business of wire.h; docs/formats/wire.md is normative. */
#ifndef REEVE_FRAME_H
#define REEVE_FRAME_H

#include "buf.h"
#include "err.h"

#define FRAME_VERSION 2u
#define FRAME_HEADER_BYTES 16u

enum frame_flag {
    FRAME_ANSWER = 1, /* to the request of this id */
    FRAME_MORE = 2,   /* of an answer: further frames follow */
};

struct frame {
    uint8_t opcode;
    uint8_t flags;
    uint32_t request;
    struct slice body;
};

/* Takes one frame off the front of `in`. *ret_need is 0 when it did; else `in` is as it was, and *ret_need the number
 * of bytes it must have for the next step (the header, or header and body). Nothing beyond the frame is looked at, and
 * the body is a slice of `in`. ERR_UNSUPPORTED for another version, ERR_INVALID for a header that is none, ERR_LIMIT
 * for a body above `body_bytes_max`: the connection is then of no further use. */
CHECKED enum err frame_take(struct slice *in, size_t body_bytes_max, struct frame *ret, size_t *ret_need,
                            struct why *why);

/* Writes the header; the body is appended by the caller; frame_close fills in its length. */
size_t frame_open(struct buf *out, uint8_t opcode, uint8_t flags, uint32_t request);
void frame_close(struct buf *out, size_t opened);

#endif
