/* titan.h: TITAN_PROTO v1, the frames that Titan's clients, masters and workers speak. 8 bytes of header, then text:
 *
 *      0        1        2        3        4..7
 *     version  opcode   flags    spare    bytes of the body, big-endian
 *
 * There is no request id: answers come in the order of the requests, one each. Flags and the spare byte are written as
 * zero and not looked at, as there. The same frames go both ways, to a master and to a worker. */
#ifndef REEVE_TITAN_H
#define REEVE_TITAN_H

#include "buf.h"
#include "err.h"

#define TITAN_VERSION 1u
#define TITAN_HEADER_BYTES 8u
#define TITAN_BODY_BYTES_MAX (64u << 20) /* Titan itself stops at 10 MiB */

/* clang-format off */
#define TITAN_OPS(X)                                   \
    X(TITAN_HEARTBEAT,             0x01, "HEARTBEAT")             \
    X(TITAN_REGISTER,              0x02, "REGISTER")              \
    X(TITAN_SUBMIT_JOB,            0x03, "SUBMIT_JOB")            \
    X(TITAN_SUBMIT_DAG,            0x04, "SUBMIT_DAG")            \
    X(TITAN_DEPLOY,                0x05, "DEPLOY")                \
    X(TITAN_RUN,                   0x06, "RUN")                   \
    X(TITAN_STOP,                  0x07, "STOP")                  \
    X(TITAN_STATS,                 0x08, "STATS")                 \
    X(TITAN_STATS_JSON,            0x09, "STATS_JSON")            \
    X(TITAN_UNREGISTER_SERVICE,    0x0a, "UNREGISTER_SERVICE")    \
    X(TITAN_CLEAN_STATS,           0x0b, "CLEAN_STATS")           \
    X(TITAN_STAGE,                 0x0c, "STAGE")                 \
    X(TITAN_START_SERVICE,         0x0d, "START_SERVICE")         \
    X(TITAN_KILL_WORKER,           0x11, "KILL_WORKER")           \
    X(TITAN_JOB_COMPLETE,          0x12, "JOB_COMPLETE")          \
    X(TITAN_LOG_STREAM,            0x15, "LOG_STREAM")            \
    X(TITAN_GET_LOGS,              0x16, "GET_LOGS")              \
    X(TITAN_LOG_BATCH,             0x17, "LOG_BATCH")             \
    X(TITAN_RUN_ARCHIVE,           0x18, "RUN_ARCHIVE")           \
    X(TITAN_START_SERVICE_ARCHIVE, 0x19, "START_SERVICE_ARCHIVE") \
    X(TITAN_ACK,                   0x50, "ACK")                   \
    X(TITAN_ERROR,                 0x51, "ERROR")                 \
    X(TITAN_DATA,                  0x52, "DATA")                  \
    X(TITAN_UPLOAD_ASSET,          0x53, "UPLOAD_ASSET")          \
    X(TITAN_FETCH_ASSET,           0x54, "FETCH_ASSET")           \
    X(TITAN_GET_JOB_STATUS,        0x55, "GET_JOB_STATUS")        \
    X(TITAN_CANCEL_JOB,            0x56, "CANCEL_JOB")            \
    X(TITAN_DEPLOY_SCRIPT,         0x57, "DEPLOY_SCRIPT")         \
    X(TITAN_KV_SET,                0x60, "KV_SET")                \
    X(TITAN_KV_GET,                0x61, "KV_GET")                \
    X(TITAN_KV_SADD,               0x62, "KV_SADD")               \
    X(TITAN_KV_SMEMBERS,           0x63, "KV_SMEMBERS")
/* clang-format on */

enum titan_op {
#define X(op, number, word) op = number,
    TITAN_OPS(X)
#undef X
};

const char *titan_op_word(uint8_t opcode); /* NULL = not known */

struct titan_frame {
    uint8_t opcode;
    struct slice body; /* UTF-8 by custom; nobody checks */
};

/* As frame_take (frame.h): *ret_need is 0 when a frame was taken off the front of `in`, else how many bytes `in` must
 * have for the next step. ERR_UNSUPPORTED for another version, ERR_LIMIT for a body above `body_bytes_max`. */
CHECKED enum err titan_take(struct slice *in, size_t body_bytes_max, struct titan_frame *ret, size_t *ret_need,
                            struct why *why);

/* A whole frame. Header and body leave in one write: some of Titan's clients read the header with one call. */
void titan_put(struct buf *out, uint8_t opcode, struct slice body);
/* A master's answer: ACK, or ERROR when the text begins as Titan's failures do. */
void titan_reply_put(struct buf *out, struct slice text);

#endif
