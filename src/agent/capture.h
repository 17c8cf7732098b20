/* capture.h: the output of one attempt, from its pipes to the server's disk.
 *
 *     0 ........ acked ........ sent ........ end        offsets; all streams of the attempt together
 *                |--- file ---|------ memory ----|
 *
 * What is not acknowledged is kept: the newest in memory, and before it, when the server is away or the attempt is
 * over, in the attempt's spool file. Of a log longer than its cap the head is passed on as it comes; of the rest the
 * last bytes are held back and follow at the end, after a note about what was left out. */
#ifndef REEVE_CAPTURE_H
#define REEVE_CAPTURE_H

#include "bytes.h"
#include "vec.h"
#include "wire.h"

#define CAPTURE_MEMORY_BYTES (512u * 1024u) /* unacknowledged, of one attempt, before something must give */
#define CAPTURE_PIECE_BYTES (32u * 1024u)
#define CAPTURE_TAIL_BYTES (256u * 1024u)

struct piece {
    uint64_t offset;
    int64_t time_ms;
    uint8_t stream; /* enum wire_stream */
    struct bytes *data;
};

struct pieces { /* a queue */
    struct vec items; /* of piece */
    uint32_t first;
    uint64_t bytes;
};

struct capture {
    struct pieces queue; /* [file_end, end) */
    struct pieces tail;  /* of a log above its cap */
    struct buf open;     /* a piece that may still grow */
    uint8_t open_stream;
    int64_t open_time_ms;
    uint64_t head_bytes_max, tail_bytes_max; /* head 0 = no cap */
    uint64_t end, sent, acked;
    uint64_t file_end; /* the spool file holds everything from where it begins up to here */
    uint64_t cut_bytes;
};

void capture_init(struct capture *c, uint64_t log_bytes_max);
void capture_fini(struct capture *c);
void capture_put(struct capture *c, enum wire_stream stream, struct slice bytes, int64_t time_ms);
void capture_close_piece(struct capture *c);            /* what may still grow is now to be sent */
void capture_over(struct capture *c, int64_t time_ms);  /* nothing more comes: the tail follows */
void capture_ack(struct capture *c, uint64_t offset);   /* forgets what memory holds before it */
const struct piece *capture_at(const struct capture *c, uint64_t offset); /* in memory; NULL = behind the last */
/* Everything in memory was written to the file. */
void capture_spooled(struct capture *c);
static inline uint64_t capture_memory(const struct capture *c) {
    return c->queue.bytes + c->open.len;
}

#endif
