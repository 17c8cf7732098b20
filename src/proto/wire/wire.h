/* wire.h: native v2, the messages. One table says which opcode carries which struct, who sends it and what answers it;
 * the structs are described in wire_*.c (tlv.h), and docs/formats/wire.md is generated from all of it.
 *
 * Opcodes and tags are format. A message grows by fields with new tags, which older readers skip; an opcode that a
 * receiver does not know is answered with `error unsupported`, and the connection goes on. */
#ifndef REEVE_WIRE_H
#define REEVE_WIRE_H

#include "frame.h"
#include "wire_admin.h"
#include "wire_demand.h"
#include "wire_orion.h"
#include "wire_playground.h"
#include "wire_read.h"
#include "wire_run.h"
#include "wire_store.h"
#include "wire_titan.h"
#include "wire_worker.h"

/* Who sends it. */
enum wire_sender { WIRE_FROM_ANY, WIRE_FROM_CLIENT, WIRE_FROM_WORKER, WIRE_FROM_SERVER, WIRE_SENDER_COUNT };

/* What goes first when there is much to do; within a lane, first come. Submits are refused first, too. */
enum wire_lane { WIRE_LANE_FIRST, WIRE_LANE_SECOND, WIRE_LANE_COUNT };

/* clang-format off */
/*     opcode                number struct              word               sender  answer            lane    what it says */
#define WIRE_TABLE(X)                                                                                                    \
    X(WIRE_HELLO,            1,   wire_hello,           "hello",           ANY,    WIRE_WELCOME,     FIRST,  "the first frame of a connection: who is calling") \
    X(WIRE_WELCOME,          2,   wire_welcome,         "welcome",         SERVER, 0,                FIRST,  "the caller is known; what holds on this connection") \
    X(WIRE_ERROR,            3,   wire_error,           "error",           ANY,    0,                FIRST,  "the request was refused") \
    X(WIRE_BUSY,             4,   wire_busy,            "busy",            SERVER, 0,                FIRST,  "the request was not looked at: too much at once") \
    X(WIRE_ACCEPTED,         5,   wire_accepted,        "accepted",        SERVER, 0,                FIRST,  "the request was done and is durable") \
    X(WIRE_PING,             6,   wire_ping,            "ping",            ANY,    WIRE_PONG,        FIRST,  "are you there") \
    X(WIRE_PONG,             7,   wire_ping,            "pong",            ANY,    0,                FIRST,  "yes") \
    X(WIRE_GOODBYE,          8,   wire_goodbye,         "goodbye",         ANY,    0,                FIRST,  "nothing new is taken on this connection") \
    X(WIRE_STOP,             9,   wire_stop,            "stop",            CLIENT, WIRE_ACCEPTED,    FIRST,  "no more frames for that request") \
    X(WIRE_SUBMIT,           16,  wire_submit,          "submit",          CLIENT, WIRE_SUBMITTED,   SECOND, "new flows, each accepted or refused on its own") \
    X(WIRE_SUBMITTED,        17,  wire_submitted,       "submitted",       SERVER, 0,                FIRST,  "what became of them") \
    X(WIRE_ADD_JOBS,         18,  wire_add_jobs,        "add_jobs",        CLIENT, WIRE_SUBMITTED,   SECOND, "a further part of a flow") \
    X(WIRE_CANCEL,           19,  wire_targets,         "cancel",          CLIENT, WIRE_ACCEPTED,    FIRST,  "flows or jobs are to end") \
    X(WIRE_PAUSE,            20,  wire_pause,           "pause",           CLIENT, WIRE_ACCEPTED,    FIRST,  "a flow, pool or tenant starts nothing new") \
    X(WIRE_RESUME,           21,  wire_pause,           "resume",          CLIENT, WIRE_ACCEPTED,    FIRST,  "it goes on") \
    X(WIRE_RETRY,            22,  wire_targets,         "retry",           CLIENT, WIRE_ACCEPTED,    FIRST,  "dead jobs get a new budget") \
    X(WIRE_DISCARD,          23,  wire_targets,         "discard",         CLIENT, WIRE_ACCEPTED,    FIRST,  "dead letters are put away") \
    X(WIRE_RERUN,            24,  wire_targets,         "rerun",           CLIENT, WIRE_ACCEPTED,    FIRST,  "finished flows start again where they failed") \
    X(WIRE_VERDICT,          25,  wire_verdict,         "verdict",         CLIENT, WIRE_ACCEPTED,    FIRST,  "the answer to a question: approve, reject and the words of policies") \
    X(WIRE_COMPLETE,         26,  wire_complete,        "complete",        CLIENT, WIRE_ACCEPTED,    FIRST,  "an external job is over") \
    X(WIRE_GET,              32,  wire_get,             "get",             CLIENT, WIRE_GOT,         SECOND, "one flow or job") \
    X(WIRE_GOT,              33,  wire_got,             "got",             SERVER, 0,                SECOND, "here it is; a large flow comes in several frames") \
    X(WIRE_LIST,             34,  wire_list,            "list",            CLIENT, WIRE_LISTED,      SECOND, "a page of flows, jobs, dead letters, questions or workers") \
    X(WIRE_LISTED,           35,  wire_listed,          "listed",          SERVER, 0,                SECOND, "the page, and the cursor of the next") \
    X(WIRE_WHY,              36,  wire_why,             "why",             CLIENT, WIRE_REASON,      SECOND, "why does this job not run") \
    X(WIRE_REASON,           37,  wire_reason,          "reason",          SERVER, 0,                SECOND, "the one reason") \
    X(WIRE_WAIT,             38,  wire_wait,            "wait",            CLIENT, WIRE_WAITED,      SECOND, "tell me when these are over") \
    X(WIRE_WAITED,           39,  wire_waited,          "waited",          SERVER, 0,                SECOND, "these are over") \
    X(WIRE_SUBSCRIBE,        40,  wire_subscribe,       "subscribe",       CLIENT, WIRE_EVENTS,      SECOND, "deprecated, use `follow`: the same, as far as memory reaches") \
    X(WIRE_EVENTS,           41,  wire_events,          "events",          SERVER, 0,                SECOND, "what happened, in order") \
    X(WIRE_LOGS,             42,  wire_logs,            "logs",            CLIENT, WIRE_LOG_DATA,    SECOND, "the output of an attempt, and what follows it") \
    X(WIRE_LOG_DATA,         43,  wire_log_data,        "log_data",        SERVER, 0,                SECOND, "a piece of it") \
    X(WIRE_STATS,            44,  wire_empty,           "stats",           CLIENT, WIRE_NUMBERS,     SECOND, "how is the server") \
    X(WIRE_NUMBERS,          45,  wire_stats,           "numbers",         SERVER, 0,                SECOND, "its counters") \
    X(WIRE_STATS_PAST,       46,  wire_stats_past,      "stats_past",      CLIENT, WIRE_NUMBERS_PAST, SECOND, "how was the server during the last day") \
    X(WIRE_NUMBERS_PAST,     47,  wire_numbers_past,    "numbers_past",    SERVER, 0,                SECOND, "its counters, minute by minute") \
    X(WIRE_BLOB_BEGIN,       64,  wire_blob_begin,      "blob_begin",      ANY,    WIRE_BLOB_STATE,  SECOND, "a blob is to be stored") \
    X(WIRE_BLOB_PART,        65,  wire_blob_part,       "blob_part",       ANY,    WIRE_BLOB_STATE,  SECOND, "its next bytes") \
    X(WIRE_BLOB_END,         66,  wire_blob_end,        "blob_end",        ANY,    WIRE_BLOB_STATE,  SECOND, "that was all, and its hash must be this") \
    X(WIRE_BLOB_STATE,       67,  wire_blob_state,      "blob_state",      SERVER, 0,                SECOND, "how far it is") \
    X(WIRE_BLOB_GET,         68,  wire_blob_get,        "blob_get",        ANY,    WIRE_BLOB_DATA,   SECOND, "the bytes of a blob") \
    X(WIRE_BLOB_DATA,        69,  wire_blob_data,       "blob_data",       SERVER, 0,                SECOND, "some of them") \
    X(WIRE_BLOB_LS,          70,  wire_blob_ls,         "blob_ls",         CLIENT, WIRE_BLOB_LIST,   SECOND, "a page of the tenant's blobs") \
    X(WIRE_BLOB_LIST,        71,  wire_blob_list,       "blob_list",       SERVER, 0,                SECOND, "the page") \
    X(WIRE_KV_CHANGE,        80,  wire_kv_change,       "kv_change",       CLIENT, WIRE_KV_CHANGED,  SECOND, "changes keys of the shared store, or publishes") \
    X(WIRE_KV_CHANGED,       81,  wire_kv_changed,      "kv_changed",      SERVER, 0,                SECOND, "changed, and durable") \
    X(WIRE_KV_GET,           82,  wire_kv_get,          "kv_get",          CLIENT, WIRE_KV_ITEMS,    SECOND, "keys, a page of keys, or members of a set") \
    X(WIRE_KV_ITEMS,         83,  wire_kv_items,        "kv_items",        SERVER, 0,                SECOND, "what is there") \
    X(WIRE_KV_WATCH,         84,  wire_kv_watch,        "kv_watch",        CLIENT, WIRE_KV_EVENT,    SECOND, "tell me when a key changes or a channel speaks") \
    X(WIRE_KV_EVENT,         85,  wire_kv_event,        "kv_event",        SERVER, 0,                SECOND, "it did") \
    X(WIRE_TOKEN_NEW,        96,  wire_token_new,       "token_new",       CLIENT, WIRE_TOKEN_GIVEN, FIRST,  "a new token") \
    X(WIRE_TOKEN_GIVEN,      97,  wire_token_given,     "token_given",     SERVER, 0,                FIRST,  "here it is, once") \
    X(WIRE_TOKEN_REVOKE,     98,  wire_targets,         "token_revoke",    CLIENT, WIRE_ACCEPTED,    FIRST,  "tokens, by id, are no longer valid") \
    X(WIRE_TOKEN_LS,         99,  wire_page,            "token_ls",        CLIENT, WIRE_TOKEN_LIST,  SECOND, "which tokens are there") \
    X(WIRE_TOKEN_LIST,       100, wire_token_list,      "token_list",      SERVER, 0,                SECOND, "all but the tokens themselves") \
    X(WIRE_SCHEDULE_SET,     101, wire_schedule_set,    "schedule_set",    CLIENT, WIRE_ACCEPTED,    FIRST,  "a flow that is submitted again and again") \
    X(WIRE_SCHEDULE_CHANGE,  102, wire_schedule_change, "schedule_change", CLIENT, WIRE_ACCEPTED,    FIRST,  "removes, pauses, resumes or backfills one") \
    X(WIRE_SCHEDULE_RUN,     143, wire_schedule_run,    "schedule_run",    CLIENT, WIRE_SUBMITTED,   FIRST,  "one runs now") \
    X(WIRE_SCHEDULE_LS,      103, wire_schedule_ls,          "schedule_ls",     CLIENT, WIRE_SCHEDULE_LIST, SECOND, "which schedules are there") \
    X(WIRE_SCHEDULE_LIST,    104, wire_schedule_list,   "schedule_list",   SERVER, 0,                SECOND, "a page of them") \
    X(WIRE_SERVICE_SET,      105, wire_service_set,     "service_set",     CLIENT, WIRE_ACCEPTED,    FIRST,  "what a service is to do") \
    X(WIRE_SERVICE_LS,       106, wire_page,            "service_ls",      CLIENT, WIRE_SERVICE_LIST, SECOND, "which services are there") \
    X(WIRE_SERVICE_GET,      48,  wire_service_get,     "service_get",     CLIENT, WIRE_SERVICE_LIST, SECOND, "a service, and the versions that it remembers") \
    X(WIRE_SERVICE_ROLLBACK, 49,  wire_service_rollback, "service_rollback", CLIENT, WIRE_SUBMITTED, FIRST, "an earlier version of a service is deployed once more") \
    X(WIRE_SERVICE_LIST,     107, wire_service_list,    "service_list",    SERVER, 0,                SECOND, "a page of them") \
    X(WIRE_POOL,             108, wire_pool,            "pool",            CLIENT, WIRE_ACCEPTED,    FIRST,  "sets a pool") \
    X(WIRE_TOPIC,            109, wire_topic,           "topic",           CLIENT, WIRE_ACCEPTED,    FIRST,  "maps a topic to pools") \
    X(WIRE_TENANT,           110, wire_tenant,          "tenant",          CLIENT, WIRE_ACCEPTED,    FIRST,  "sets the share of a tenant") \
    X(WIRE_LIMIT,            111, wire_limit,           "limit",           CLIENT, WIRE_ACCEPTED,    FIRST,  "limits a key, a rate or a tenant") \
    X(WIRE_DRAIN,            112, wire_drain,           "drain",           ANY,    WIRE_ACCEPTED,    FIRST,  "a worker takes no more, or takes again") \
    X(WIRE_DEMAND_WATCH,     116, wire_demand_watch,    "demand_watch",    ANY,    WIRE_DEMANDS,     SECOND, "tell me which jobs wait for room, now and whenever it changes") \
    X(WIRE_DEMANDS,          117, wire_demands,         "demands",         SERVER, 0,                SECOND, "these do") \
    X(WIRE_CALLBACK,         121, wire_callback,        "callback",        CLIENT, WIRE_CALLBACK_GIVEN, FIRST, "a token by which someone outside can end an external job") \
    X(WIRE_CALLBACK_GIVEN,   122, wire_callback_given,  "callback_given",  SERVER, 0,                FIRST,  "here it is") \
    X(WIRE_FOLLOW,           123, wire_follow,          "follow",          CLIENT, WIRE_EVENTS,      SECOND, "tell me everything that happens, also what is no longer in memory") \
    X(WIRE_TALE,             124, wire_tale,            "tale",            CLIENT, WIRE_TOLD,        SECOND, "what happened to a flow, from its birth on") \
    X(WIRE_TOLD,             125, wire_told,            "told",            SERVER, 0,                SECOND, "that did") \
    X(WIRE_ATTACH,           128, wire_attach,          "attach",          WORKER, WIRE_ATTACHED,    FIRST,  "a worker is there, and everything it holds") \
    X(WIRE_ATTACHED,         129, wire_attached,        "attached",        SERVER, 0,                FIRST,  "it is known; its lease runs") \
    X(WIRE_HEARTBEAT,        130, wire_heartbeat,       "heartbeat",       WORKER, WIRE_LEASE,       FIRST,  "still there, with this load") \
    X(WIRE_LEASE,            131, wire_lease,           "lease",           SERVER, 0,                FIRST,  "the lease runs on") \
    X(WIRE_CREDIT,           132, wire_load,            "credit",          WORKER, 0,                FIRST,  "how many attempts it is willing to hold") \
    X(WIRE_DETACH,           133, wire_detach,          "detach",          WORKER, WIRE_ACCEPTED,    FIRST,  "it goes, holding nothing") \
    X(WIRE_ASSIGN,           134, wire_assign,          "assign",          SERVER, 0,                FIRST,  "run these") \
    X(WIRE_CANCEL_ATTEMPT,   135, wire_stop_attempts,   "cancel_attempt",  SERVER, 0,                FIRST,  "stop these") \
    X(WIRE_STARTED,          136, wire_attempts,        "started",         WORKER, 0,                FIRST,  "these run") \
    X(WIRE_PROGRESS,         137, wire_progress,        "progress",        WORKER, 0,                FIRST,  "how far these are") \
    X(WIRE_HEALTH,           138, wire_health,          "health",          WORKER, 0,                FIRST,  "whether these services are well; sent when it changes") \
    X(WIRE_LOG,              139, wire_log,             "log",             WORKER, 0,                FIRST,  "what these wrote") \
    X(WIRE_LOG_ACK,          140, wire_log_ack,         "log_ack",         SERVER, 0,                FIRST,  "so much of it is durable") \
    X(WIRE_DONE,             141, wire_done,            "done",            WORKER, WIRE_DONE_ACK,    FIRST,  "these are over") \
    X(WIRE_DONE_ACK,         142, wire_done_ack,        "done_ack",        SERVER, 0,                FIRST,  "and will not be forgotten") \
    X(WIRE_METRICS,          150, wire_empty,           "metrics",         CLIENT, WIRE_EXPOSED,     SECOND, "the counters, as Prometheus reads them") \
    X(WIRE_EXPOSED,          151, wire_metrics,         "exposed",         SERVER, 0,                SECOND, "here they are") \
    X(WIRE_DEAD_RETRY,       152, wire_dead,            "dead_retry",      CLIENT, WIRE_ACCEPTED,    FIRST,  "dead letters, many at once, get a new budget") \
    X(WIRE_DEAD_DISCARD,     153, wire_dead,            "dead_discard",    CLIENT, WIRE_ACCEPTED,    FIRST,  "dead letters, many at once, are put away") \
    X(WIRE_BLOB_PUT,         154, wire_blob_put,        "blob_put",        CLIENT, WIRE_BLOB_KEPT,   SECOND, "a blob is to be stored: all of it") \
    X(WIRE_BLOB_KEPT,        155, wire_blob_kept,       "blob_kept",       SERVER, 0,                SECOND, "it is") \
    X(WIRE_AUDIT,            156, wire_audit,           "audit",           CLIENT, WIRE_AUDITED,     SECOND, "a page of the journal's records, newest first") \
    X(WIRE_AUDITED,          157, wire_audited,         "audited",         SERVER, 0,                SECOND, "the page") \
    X(WIRE_WORKER_START,     158, wire_worker_start,    "worker_start",    CLIENT, WIRE_WORKER_STARTED, FIRST, "a worker is to be started on the server's machine") \
    X(WIRE_WORKER_STARTED,   159, wire_worker_started,  "worker_started",  SERVER, 0,                FIRST,  "it is on its way") \
    X(WIRE_ORION_GET,        165, wire_orion_get,       "orion_get",       CLIENT, WIRE_ORION,       SECOND, "reserved, answered with `unsupported`: what Orion's interface shows, asked in process") \
    X(WIRE_ORION,            166, wire_orion,           "orion",           SERVER, 0,                SECOND, "reserved: the caller's tenant, in Orion's words") \
    X(WIRE_PLAYGROUND_GET,   167, wire_empty,           "playground_get",  CLIENT, WIRE_PLAYGROUND,  SECOND, "how is the server whose plug can be pulled") \
    X(WIRE_PLAYGROUND,       168, wire_playground,      "playground",      SERVER, 0,                SECOND, "so it is, and this is what the last recovery found") \
    X(WIRE_PLAYGROUND_DO,    169, wire_playground_do,   "playground_do",   CLIENT, WIRE_ACCEPTED,    FIRST,  "pull the plug: the server is killed") \
    X(WIRE_LOGIN_NEW,        175, wire_empty,           "login_new",       CLIENT, WIRE_LOGIN_LINK,  FIRST,  "a link by which a browser comes in as the caller") \
    X(WIRE_AUDIT_CHECKPOINT, 190, wire_empty,           "audit_checkpoint", CLIENT, WIRE_CHECKPOINTED, SECOND, "hash and sign the journal now") \
    X(WIRE_CHECKPOINTED,     191, wire_checkpoint,      "checkpointed",    SERVER, 0,                SECOND, "the newest checkpoint; it covers all that was durable when it was asked for") \
    X(WIRE_AUDIT_VERIFY,     192, wire_audit_verify,    "audit_verify",    CLIENT, WIRE_AUDIT_VERIFIED, SECOND, "is the journal what was signed") \
    X(WIRE_AUDIT_VERIFIED,   193, wire_audit_verified,  "audit_verified",  SERVER, 0,                SECOND, "yes, or what does not fit") \
    X(WIRE_AUDIT_EXPORT,     194, wire_audit_export,    "audit_export",    CLIENT, WIRE_AUDIT_EXPORTED, SECOND, "a page of the audit trail, oldest first, as lines of JSON") \
    X(WIRE_AUDIT_EXPORTED,   195, wire_audit_exported,  "audit_exported",  SERVER, 0,                SECOND, "the page") \
    X(WIRE_LOGIN_LINK,       176, wire_login_link,      "login_link",      SERVER, 0,                FIRST,  "here it is; it works once") \
    X(WIRE_LOGIN_USE,        170, wire_login_use,       "login_use",       CLIENT, WIRE_ACCEPTED,    FIRST,  "a browser comes in by a login link; made of the link by HTTP") \
    X(WIRE_LOGOUT,           171, wire_logout,          "logout",          CLIENT, WIRE_ACCEPTED,    FIRST,  "a browser logs out; made of its request by HTTP") \
    X(WIRE_TITAN_GET,        180, wire_titan_get,       "titan_get",       CLIENT, WIRE_TITAN,       SECOND, "reserved, answered with `unsupported`: what Titan's interface shows, asked in process") \
    X(WIRE_TITAN,            181, wire_titan,           "titan",           SERVER, 0,                SECOND, "reserved: the caller's tenant, in Titan's words") \
    X(WIRE_LIMIT_LS,         205, wire_page,            "limit_ls",        CLIENT, WIRE_LIMIT_LIST,  SECOND, "which limits are there, and how much of them is taken") \
    X(WIRE_LIMIT_LIST,       206, wire_limit_list,      "limit_list",      SERVER, 0,                SECOND, "a page of them") \
    X(WIRE_SOURCE_GET,       220, wire_source_get,      "source_get",      CLIENT, WIRE_SOURCE_GOT,  SECOND, "the file that a flow was submitted from") \
    X(WIRE_SOURCE_GOT,       221, wire_source_got,      "source_got",      SERVER, 0,                SECOND, "here it is") \
    X(WIRE_AGAIN,            222, wire_again,           "again",           CLIENT, WIRE_SUBMITTED,   SECOND, "the file of a flow is submitted once more, with other parameters")
/* clang-format on */

/* The description of each struct: of a message that only the table names, nothing else declares it. */
#define X(op, number, type, word, sender, answer, lane, text) extern const struct tlv_desc type##_desc;
WIRE_TABLE(X)
#undef X

enum wire_op {
#define X(op, number, type, word, sender, answer, lane, text) op = number,
    WIRE_TABLE(X)
#undef X
};

struct wire_info {
    const char *word;
    const struct tlv_desc *desc;
    enum wire_sender sender;
    enum wire_lane lane;
    uint8_t answer; /* opcode of the answer when all goes well; 0 = none */
    const char *text;
};

const struct wire_info *wire_info(uint8_t opcode); /* NULL = not known */
const char *wire_word(uint8_t opcode);             /* "unknown" */

/* A whole frame. The message must fit its table (tlv_check). */
void wire_put(struct buf *out, enum wire_op op, uint8_t flags, uint32_t request, const void *message);
/* Fills the struct of the frame's opcode (on failure it means nothing). Fields that are not known are skipped; an
 * opcode that is not known is ERR_UNSUPPORTED. */
CHECKED enum err wire_take(const struct frame *frame, struct arena *arena, void *ret, struct why *why);

#endif
