/* session_fuzz.c: whole sessions against the whole server. The input is a program: it opens connections on every
 * listener, as everyone there can be, says what makes sense and what does not, in one write or in pieces, does not
 * read, hangs up in the middle, lets time go by and the disk be late, and starts the server again. What must hold is in
 * sessionlab.h: no panic, no leak, nothing of one tenant for another, the same state after a restart. */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "json.h"
#include "panic.h"
#include "resp_impl.h"
#include "sessionlab.h"
#include "titan.h"
#include "tlvgen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 200
#define RAW_BYTES_MAX 64u
#define FLOOD_MAX 64u /* 128 MiB of answers */
#define FLOOD_KEYS 32u
#define FLOOD_VALUE_BYTES 65536u
#define FLOOD_BYTES_MAX ((size_t)8 << 20)

enum tongue { DIALECT_NATIVE, DIALECT_HTTP, DIALECT_RESP, DIALECT_TITAN, DIALECT_COUNT };

struct play {
    struct sessionlab lab;
    struct tlvgen_bytes source;
    struct tlvgen g;
    struct arena arena;
    struct buf out; /* what is written next */
    enum tongue dialects[SESSIONLAB_CONNS];
    uint32_t requests;
};

static const char *const words[] = {"",        "a",       "b",           "f11",         "f12",       "f11/a",
                                    "f12/a",   "f13/b",   "k",           "w",           "w-000001",  "v-000002",
                                    "default", "1",       "SECRET-OF-a", "SECRET-OF-b", "true",      "flows",
                                    "jobs",    "workers", "running",     "*",           "{\"x\":1}", "admin"};

/* One byte each. Never two in one expression: corpus entries must mean the same to every compiler. */
static uint32_t pick(struct play *p, uint32_t below) {
    return (uint32_t)tlvgen_below(&p->g, below);
}

static struct slice word(struct play *p) {
    return slice_str(words[pick(p, sizeof words / sizeof *words)]);
}

static struct sessionlab_conn *conn_at(struct play *p, uint32_t place) {
    return &p->lab.conns[place];
}

/* Its own, and so a finding wherever else it turns up. */
static struct slice secret(struct play *p, uint32_t place) {
    return slice_str(sessionlab_secret(conn_at(p, place)->tenant));
}

static struct slice encode(struct play *p, const struct tlv_desc *d, const void *message) {
    struct buf out;
    struct why why = {{0}};
    buf_init(&out, (size_t)1 << 24);
    ENSURE(tlv_check(d, message, &why) == ERR_OK);
    tlv_encode(d, message, &out);
    struct slice copy = arena_slice(&p->arena, buf_slice(&out));
    buf_fini(&out);
    return copy;
}

/* ---- native v2 ---- */

static void put_u32(uint8_t *at, uint32_t v) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* By hand: wire_put refuses what must not be said. */
static void put_frame(struct play *p, uint8_t op, struct slice body) {
    static const uint32_t ids[] = {0, 1, 2, 3, UINT32_MAX};
    uint32_t how = pick(p, 16);
    uint8_t head[FRAME_HEADER_BYTES] = {FRAME_VERSION, op};
    if (how == 15) head[2] = (uint8_t)pick(p, 4);
    put_u32(head + 4, how < 5 ? ids[how] : ++p->requests);
    put_u32(head + 12, (uint32_t)body.len);
    size_t at = p->out.len + FRAME_HEADER_BYTES;
    buf_put(&p->out, head, sizeof head);
    buf_put_slice(&p->out, body);
    if (how != 14 || body.len == 0) return;
    at += pick(p, 256) % body.len;
    p->out.at[at] ^= (uint8_t)(1 + pick(p, 255));
}

static void put_message(struct play *p, enum wire_op op, const void *message) {
    put_frame(p, (uint8_t)op, encode(p, wire_info((uint8_t)op)->desc, message));
}

static void put_hello(struct play *p, uint32_t place) {
    struct wire_hello m = {.version_min = FRAME_VERSION,
                           .version_max = FRAME_VERSION,
                           .peer = (uint8_t)pick(p, WIRE_PEER_COUNT),
                           .build = SLICE("lab"),
                           .token = slice_str(conn_at(p, place)->token.text)};
    put_message(p, WIRE_HELLO, &m);
}

static struct wire_attempt attempt(struct play *p) {
    uint32_t known = p->lab.attempt_count < SESSIONLAB_ATTEMPTS ? p->lab.attempt_count : SESSIONLAB_ATTEMPTS;
    if (known > 0 && pick(p, 4) != 0) return p->lab.attempts[pick(p, known)].attempt;
    struct wire_attempt a = {.flow = pick(p, 4)};
    a.ordinal = pick(p, 2);
    a.attempt = pick(p, 3);
    return a;
}

static void say_submit(struct play *p, uint32_t place) {
    static const enum job_kind kinds[] = {JOB_COMMAND, JOB_COMMAND, JOB_EXTERNAL, JOB_GATE,
                                          JOB_SLEEP,   JOB_SERVICE, JOB_NOOP,     JOB_FAIL};
    struct wire_arg argv[] = {{SLICE("true")}};
    struct wire_pair env[] = {{SLICE("S"), secret(p, place)}};
    struct wire_run run = {.argv = {argv, 1}, .env = {env, 1}};
    struct wire_options options = {.kind = (uint8_t)kinds[pick(p, 8)]};
    options.attempts_max = 1 + pick(p, 2);
    if (pick(p, 4) == 0) options.exclusive = true;
    if (options.kind == JOB_GATE) options.gates = 1;
    struct wire_job jobs[2] = {{.name = SLICE("a"), .body = encode(p, &wire_run_desc, &run)}, {.name = SLICE("b")}};
    jobs[1].body = jobs[0].body;
    jobs[1].parents = (struct tlv_u32s){(uint32_t[]){0}, 1};
    if (options.kind == JOB_SERVICE) jobs[0].service = SLICE("k");
    struct wire_flow flows[2] = {{.name = secret(p, place), .part = {{&options, 1}, {jobs, 1 + pick(p, 2)}, false}}};
    if (pick(p, 4) == 0) flows[0].key = SLICE("k");
    if (pick(p, 4) == 0) flows[0].part.more = true;
    if (pick(p, 8) == 0) flows[0].part = (struct wire_jobs){0};
    if (pick(p, 8) == 0) flows[0].spec = SLICE("{\"jobs\":{\"a\":{\"run\":\"x\",\"foreach\":[1,2]}}}");
    flows[1] = flows[0];
    struct wire_submit m = {.flows = {flows, 1 + pick(p, 2)}};
    put_message(p, WIRE_SUBMIT, &m);
}

static void say_attach(struct play *p, uint32_t place) {
    static const char *const ids[] = {"w-000001", "w-000001", "v-000002", "w"};
    (void)place;
    struct wire_attach m = {.worker = slice_str(ids[pick(p, 4)]), .load = {.credit = 2}};
    m.incarnation = 1 + pick(p, 4);
    m.info.slots = 1 + pick(p, 3);
    struct wire_held held[] = {{.attempt = attempt(p)}};
    held[0].phase = (uint8_t)pick(p, WIRE_HELD_COUNT);
    if (pick(p, 4) == 0) m.held = (struct tlv_list){held, 1};
    put_message(p, WIRE_ATTACH, &m);
}

static void say_worker(struct play *p, uint32_t place) {
    struct wire_attempt a = attempt(p);
    struct wire_log_piece pieces[] = {{.offset = pick(p, 2) * 11, .data = secret(p, place)}};
    struct wire_log_batch batches[] = {{a, {pieces, 1}}};
    struct wire_end ends[] = {{.attempt = a, .outcome = (uint8_t)pick(p, WIRE_OUTCOME_COUNT)}};
    switch (pick(p, 6)) {
    case 0: put_message(p, WIRE_STARTED, &(struct wire_attempts){{&a, 1}}); return;
    case 1: put_message(p, WIRE_LOG, &(struct wire_log){{batches, 1}}); return;
    case 2: put_message(p, WIRE_HEARTBEAT, &(struct wire_heartbeat){.load = {.credit = pick(p, 3)}}); return;
    case 3: put_message(p, WIRE_DETACH, &(struct wire_detach){{0}}); return;
    default:
        if (pick(p, 2) == 0) ends[0].log_bytes = 11;
        if (pick(p, 2) == 0) ends[0].result = SLICE("{\"x\":1}");
        put_message(p, WIRE_DONE, &(struct wire_done){{ends, 1}});
    }
}

static void say_store(struct play *p, uint32_t place) {
    struct wire_kv_entry entries[] = {{SLICE("k"), secret(p, place)}};
    struct wire_kv_change change = {.entries = {entries, 1}};
    struct wire_kv_key keys[FLOOD_KEYS];
    for (uint32_t i = 0; i < FLOOD_KEYS; i++) keys[i].text = SLICE("k");
    struct wire_kv_get get = {.keys = {keys, 1}};
    struct wire_kv_watch watch = {.key = SLICE("k"), .channel = pick(p, 2) == 0};
    watch.prefix = pick(p, 2) == 0;
    switch (pick(p, 6)) {
    case 0: put_message(p, WIRE_KV_CHANGE, &change); return;
    case 1: put_message(p, WIRE_KV_GET, &get); return;
    case 2: put_message(p, WIRE_KV_WATCH, &watch); return;
    case 3:
        change = (struct wire_kv_change){.op = WIRE_KV_PUBLISH, .key = SLICE("k"), .value = secret(p, place)};
        put_message(p, WIRE_KV_CHANGE, &change);
        return;
    case 4: put_message(p, WIRE_BLOB_PUT, &(struct wire_blob_put){secret(p, place)}); return;
    default: /* a large value, and more questions about it than anybody takes in */
        entries[0].value = slice_of(arena_alloc(&p->arena, FLOOD_VALUE_BYTES), FLOOD_VALUE_BYTES);
        get.keys.count = FLOOD_KEYS;
        put_message(p, WIRE_KV_CHANGE, &change);
        for (uint32_t i = pick(p, 4) == 3 ? FLOOD_MAX : pick(p, 4); i > 0; i--) put_message(p, WIRE_KV_GET, &get);
    }
}

/* What changes flows, jobs and workers, by a name that means one of them. */
static void say_touch(struct play *p) {
    static const enum wire_op ops[] = {WIRE_CANCEL, WIRE_RETRY, WIRE_DISCARD, WIRE_RERUN};
    static const char *const targets[] = {"f11", "f12", "f13", "f11/a", "f12/a", "f13/a", "f11/b", "f14"};
    struct wire_name target = {slice_str(targets[pick(p, 8)])};
    struct wire_drain drain = {.worker = pick(p, 2) ? SLICE("w-000001") : SLICE("v-000002")};
    switch (pick(p, 8)) {
    case 0:
        drain.end = true;
        put_message(p, WIRE_DRAIN, &drain);
        return;
    case 1: put_message(p, WIRE_DRAIN, &drain); return;
    case 2: put_message(p, WIRE_PAUSE, &(struct wire_pause){.name = target.name}); return;
    case 3: put_message(p, WIRE_COMPLETE, &(struct wire_complete){.job = target.name}); return;
    case 4: put_message(p, WIRE_VERDICT, &(struct wire_verdict){.job = target.name}); return;
    default: put_message(p, ops[pick(p, 4)], &(struct wire_targets){.targets = {&target, 1}});
    }
}

/* A stranger's place in the alphabet: any opcode, also one that there is not, with what its table allows. */
static void say_anything(struct play *p) {
    uint8_t op = (uint8_t)pick(p, 256);
    const struct wire_info *info = wire_info(op);
    put_frame(p, op, info != NULL ? tlvgen_message(&p->g, info->desc) : word(p));
}

static void say_native(struct play *p, uint32_t place) {
    switch (pick(p, 16)) {
    case 0: put_hello(p, place); return;
    case 1:
    case 2: say_submit(p, place); return;
    case 3:
    case 4: say_attach(p, place); return;
    case 5:
    case 6:
    case 7: say_worker(p, place); return;
    case 8:
    case 9: say_store(p, place); return;
    case 15: say_touch(p); return;
    default: say_anything(p);
    }
}

/* ---- the other dialects ---- */

static void put_text(struct play *p, const char *text) {
    buf_put_slice(&p->out, slice_str(text));
}

static void put_path(struct play *p, const char *path) {
    for (; *path != 0; path++) {
        bool open = *path == '{' || *path == '*';
        if (open) buf_put_slice(&p->out, word(p));
        if (*path == '{') path += strcspn(path, "}");
        if (!open) buf_put(&p->out, path, 1);
    }
}

static struct slice some_body(struct play *p, const struct api_route *route) {
    static const char *const bodies[] = {
        "{\"jobs\":{\"a\":{\"run\":\"x\"},\"b\":{\"run\":\"y\",\"needs\":[\"a\"]}}}",
        "[{\"id\":\"a\",\"payload\":\"work\"},{\"id\":\"b\",\"dependencies\":[\"a\"]}]",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"list\",\"arguments\":{}}}",
        "{\"name\":\"a\",\"jobs\":[{\"id\":\"a\",\"type\":\"RUN\",\"file\":\"x.py\"}]}",
        "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.py\"\r\n\r\nprint(1)\r\n--x--\r\n",
        "\x81\x81\x01\x02\x03\x04\x05",
    };
    uint32_t which = pick(p, 8);
    if (which < 6) return slice_str(bodies[which]);
    if (route == NULL) return word(p);
    struct buf text;
    struct json j;
    const struct tlv_desc *d = wire_info(route->op)->desc;
    void *message = arena_alloc(&p->arena, d->size);
    tlvgen_fill(&p->g, d, message);
    buf_init(&text, (size_t)1 << 24);
    json_init(&j, &text);
    json_object(&j);
    tlv_json(d, message, &j);
    json_object_end(&j);
    struct slice copy = arena_slice(&p->arena, buf_slice(&text));
    buf_fini(&text);
    return copy;
}

static void put_headers(struct play *p, uint32_t place, struct slice body) {
    static const char *const more[] = {"",
                                       "",
                                       "Connection: close\r\n",
                                       "Expect: 100-continue\r\n",
                                       ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                                        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"),
                                       "Accept: text/event-stream\r\nLast-Event-ID: 1.0\r\n",
                                       "Range: bytes=1-\r\n",
                                       "Content-Type: multipart/form-data; boundary=x\r\n"};
    const char *token = conn_at(p, place)->token.text;
    char line[300];
    put_text(p, " HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    put_text(p, more[pick(p, 8)]);
    if (pick(p, 2) == 0) put_text(p, "Content-Type: application/json\r\n");
    snprintf(line, sizeof line, "Authorization: Bearer %s\r\n", token);
    if (token[0] != 0) put_text(p, line);
    bool chunked = pick(p, 4) == 3;
    snprintf(line, sizeof line, chunked ? "Transfer-Encoding: chunked\r\n\r\n%zx\r\n" : "Content-Length: %zu\r\n\r\n",
             body.len);
    put_text(p, line);
    buf_put_slice(&p->out, body);
    if (chunked) put_text(p, body.len > 0 ? "\r\n0\r\n\r\n" : "\r\n");
}

static void say_http(struct play *p, uint32_t place) {
    static const char *const others[] = {"POST /api/v1/dag",
                                         "GET /api/v1/dag/state",
                                         "GET /ws",
                                         "GET /api/v1/dags",
                                         "POST /mcp",
                                         "POST /api/dag/submit",
                                         "GET /api/dag_status",
                                         "GET /dags/*",
                                         "GET /api/logs_raw/*",
                                         "POST /api/upload_script",
                                         "POST /api/dag/*/cancel",
                                         "POST /api/hitl/approve/*",
                                         "GET /metrics",
                                         "POST /api/dag/save_draft",
                                         "GET /"};
    uint32_t count = 0;
    const struct api_route *routes = api_routes(&count), *route = NULL;
    if (pick(p, conn_at(p, place)->door == SESSIONLAB_MAIN ? 8 : 2) == 0) {
        put_path(p, others[pick(p, sizeof others / sizeof *others)]);
    } else {
        route = &routes[pick(p, count)];
        put_text(p, http_verb_word(route->verb));
        put_text(p, route->bare ? " " : " " API_PREFIX);
        put_path(p, route->path);
        if (pick(p, 4) == 0) put_path(p, "?*=*&most=*");
    }
    struct slice body = some_body(p, route);
    bool takes_none = route != NULL && route->body == API_BODY_NONE; /* it would be refused for having one */
    put_headers(p, place, takes_none ? SLICE("") : body);
}

static void say_resp(struct play *p, uint32_t place) {
    struct slice args[8];
    char line[32];
    const struct resp_command *c = &resp_commands[pick(p, resp_command_count)];
    uint32_t count = (uint32_t)(c->arity < 0 ? -c->arity : c->arity) + (pick(p, 4) == 3 ? 1 : 0);
    if (count > 8) count = 8;
    for (uint32_t i = 0; i < count; i++) args[i] = i == 0 ? slice_str(c->name) : word(p);
    if (pick(p, 8) == 0) {
        args[0] = SLICE("auth");
        args[1] = slice_str(conn_at(p, place)->token.text);
        count = 2;
    }
    snprintf(line, sizeof line, "*%u\r\n", count);
    put_text(p, line);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(line, sizeof line, "$%zu\r\n", args[i].len);
        put_text(p, line);
        buf_put_slice(&p->out, args[i]);
        put_text(p, "\r\n");
    }
}

static void say_titan(struct play *p) {
    static const uint8_t ops[] = {
#define X(op, number, text) number,
        TITAN_OPS(X)
#undef X
    };
    static const char *const bodies[] = {"a|RUN_PAYLOAD|x.sh||ZWNobw==|GENERAL|1|0|",
                                         "j|RUN_ARCHIVE|p.zip/app/main.py|a b|GENERAL|1|0",
                                         "a|RUN_PAYLOAD|x.sh||ZWNobw==|GPU|1|0|[];b|RUN_PAYLOAD|y.sh||QQ==|1|0|[a]",
                                         "8095|GENERAL",
                                         "k|1",
                                         "x.py|ZWNobw==|GENERAL"};
    uint32_t which = pick(p, 8);
    struct slice body = which < 6 ? slice_str(bodies[which]) : word(p);
    uint8_t head[TITAN_HEADER_BYTES] = {TITAN_VERSION, ops[pick(p, sizeof ops)]};
    put_u32(head + 4, (uint32_t)body.len);
    buf_put(&p->out, head, sizeof head);
    buf_put_slice(&p->out, body);
}

static void say_raw(struct play *p) {
    for (uint32_t n = pick(p, RAW_BYTES_MAX); n > 0; n--) buf_put(&p->out, &(uint8_t){(uint8_t)pick(p, 256)}, 1);
}

static void say(struct play *p, uint32_t place) {
    switch (p->dialects[place]) {
    case DIALECT_HTTP: say_http(p, place); return;
    case DIALECT_RESP: say_resp(p, place); return;
    case DIALECT_TITAN: say_titan(p); return;
    case DIALECT_NATIVE:
    case DIALECT_COUNT: break;
    }
    say_native(p, place);
}

/* ---- steps ---- */

static void open_one(struct play *p, uint32_t place) {
    static const struct net_peer peers[] = {
        {.address = "127.0.0.1:1"},
        {.address = "unix:1000", .is_local = true, .uid = 1000},
        {.address = "unix:33", .is_local = true, .uid = 33},
        {.address = "10.0.0.9:7", .is_tls = true},
        {.address = "10.0.0.8:7",
         .is_tls = true,
         .certified = {(const uint8_t *)"w", 1},
         .certified_role = {(const uint8_t *)"worker", 6},
         .certified_tenant = {(const uint8_t *)"a", 1}},
    };
    static const enum tongue dialects[SESSIONLAB_DOOR_COUNT] = {DIALECT_NATIVE, DIALECT_RESP, DIALECT_TITAN,
                                                                DIALECT_HTTP, DIALECT_HTTP};
    const struct sessionlab_token *tokens;
    uint32_t count = sessionlab_tokens(&tokens);
    uint32_t which = pick(p, count + SESSIONLAB_ATTEMPTS + 1);
    const struct sessionlab_token *token = which < count ? &tokens[which]
                                           : which == count + SESSIONLAB_ATTEMPTS
                                               ? &p->lab.callback
                                               : &p->lab.attempts[which - count].token;
    struct sessionlab_token own = *token;
    uint32_t door = pick(p, 16);
    if (door >= SESSIONLAB_DOOR_COUNT) door = SESSIONLAB_MAIN;
    uint32_t peer = pick(p, 16);
    p->dialects[place] = dialects[door];
    if (door == SESSIONLAB_MAIN && pick(p, 4) == 3) p->dialects[place] = pick(p, 2) ? DIALECT_HTTP : DIALECT_RESP;
    sessionlab_open(&p->lab, place, (enum sessionlab_door)door, &peers[peer < 5 ? peer : 0], &own);
    if (p->dialects[place] == DIALECT_NATIVE && pick(p, 8) != 7) put_hello(p, place);
}

static void flush(struct play *p, uint32_t place, uint32_t how) {
    struct slice all = buf_slice(&p->out);
    size_t first = how == 1 && all.len > 0 ? pick(p, 256) % all.len : all.len;
    sessionlab_write(&p->lab, place, slice_of(all.ptr, first));
    if (first < all.len) {
        sessionlab_pass(&p->lab);
        sessionlab_write(&p->lab, place, slice_of(all.ptr + first, all.len - first));
    }
    buf_clear(&p->out);
    arena_reset(&p->arena);
}

/* By whatever dialect, and its owner reads none of the answers. */
static void say_without_reading(struct play *p, uint32_t place) {
    sessionlab_read(&p->lab, place, false);
    say(p, place);
    struct slice once = arena_slice(&p->arena, buf_slice(&p->out));
    for (uint32_t i = 1; i < FLOOD_MAX && p->out.len + once.len <= FLOOD_BYTES_MAX; i++) buf_put_slice(&p->out, once);
}

static void step(struct play *p) {
    static const int64_t waits[] = {1, 20, 100, 1000, 5000, 31000, 76000, 3600000};
    uint32_t place = pick(p, SESSIONLAB_CONNS);
    uint32_t what = pick(p, 16);
    uint32_t how = pick(p, 16);
    switch (what) {
    case 0:
    case 1:
    case 2: open_one(p, place); break;
    case 3: sessionlab_close(&p->lab, place); break;
    case 4: p->lab.now_ms += waits[how % 8]; break;
    case 5:
        if (how >= 12 && conn_at(p, place)->conn.v != 0)
            say_without_reading(p, place);
        else
            sessionlab_read(&p->lab, place, how % 2 != 0);
        break;
    case 6:
        if (how < 4) sessionlab_restart(&p->lab, how < 2);
        if (how >= 12) sessionlab_settle(&p->lab);
        break;
    case 7: say_raw(p); break;
    default:
        if (conn_at(p, place)->conn.v == 0) open_one(p, place);
        for (uint32_t n = how < 12 ? 1 : how - 10; n > 0; n--) say(p, place);
    }
    flush(p, place, how);
    uint32_t turn = pick(p, 8);
    if (turn != 7) sessionlab_pass(&p->lab);
    if (turn < 4) sessionlab_step(&p->lab);
    if (turn < 3) sessionlab_pass(&p->lab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct play p = {.source = {data, data + size}};
    p.g = (struct tlvgen){.draw = tlvgen_draw_byte,
                          .ctx = &p.source,
                          .arena = &p.arena,
                          .small = true,
                          .sparse = true,
                          .words = words,
                          .word_count = sizeof words / sizeof *words};
    arena_init(&p.arena, 65536, (size_t)1 << 28);
    buf_init(&p.out, (size_t)128 << 20);
    sessionlab_init(&p.lab);
    for (int i = 0; i < STEPS_MAX && p.source.at < p.source.end; i++) step(&p);
    sessionlab_fini(&p.lab);
    buf_fini(&p.out);
    arena_fini(&p.arena);
    return 0;
}
