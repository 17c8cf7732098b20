/* verb_mcp.c: `reeve mcp`: the Model Context Protocol on standard input and output, one message a line, for agents that
 * start their servers as processes. What a message means is in mcp/; here it is asked of the server, over a connection
 * that is made when it is first needed and made anew when the server was away.
 *
 * Standard output carries messages and nothing else. Several calls may be under way at once. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "limit.h"
#include "mcp.h"
#include "verbs.h"
#include "yaml_tree.h"

#define RUNNING_MAX 32u /* calls at once; then nothing more is read until one is over */
#define PARTS_MAX 4096u /* frames of one answer */
#define READ_BYTES 65536u
#define FILE_BYTES_MAX ((size_t)16 << 20)

struct mcp_running {
    bool is_used, is_dropped; /* dropped: the agent no longer waits for it */
    struct mcp_exchange x;
    uint32_t request; /* that was asked last; 0 = none */
    const void *parts[PARTS_MAX];
    uint32_t part_count;
};

struct bridge {
    struct cli *c;
    struct limits limits;
    struct mcp_world world;
    enum mcp_revision revision;
    struct buf in;
    bool is_skipping; /* a line that is too long, up to its end */
    bool is_over;     /* the agent has closed our input */
    bool is_broken;   /* and it does not read, either */
    struct mcp_running all[RUNNING_MAX];
};

/* ---- what the tools need of this machine ---- */

static void hash(void *ctx, struct slice bytes, uint8_t ret[32]) {
    struct bridge *b = ctx;
    b->c->world->hasher->whole(b->c->world->hasher, bytes, ret);
}

static enum err file(void *ctx, struct slice path, struct slice beside, struct arena *arena, struct slice *ret,
                     struct why *why) {
    char full[4096];
    const uint8_t *slash = beside.len > 0 ? memrchr(beside.ptr, '/', beside.len) : NULL;
    int folder = slash != NULL && path.len > 0 && path.ptr[0] != '/' ? (int)(slash - beside.ptr) + 1 : 0;
    (void)ctx;
    int len = snprintf(full, sizeof full, "%.*s%.*s", folder, (const char *)beside.ptr, SLICE_FMT(path));
    if (path.len == 0 || len < 0 || (size_t)len >= sizeof full || memchr(path.ptr, 0, path.len) != NULL)
        return why_set(why, ERR_INVALID, "this is not the path of a file");
    FILE *f = fopen(full, "re");
    if (f == NULL) return why_set(why, ERR_NOT_FOUND, "%s: %s", full, strerrordesc_np(errno));
    struct buf bytes;
    buf_init(&bytes, FILE_BYTES_MAX);
    for (size_t n = 1; n > 0 && !bytes.full;) {
        uint8_t *at = buf_space(&bytes, READ_BYTES);
        n = at != NULL ? fread(at, 1, READ_BYTES, f) : 0;
        if (at != NULL) buf_cut(&bytes, bytes.len - READ_BYTES + n);
    }
    enum err e = ferror(f)    ? why_set(why, ERR_IO, "%s: %s", full, strerrordesc_np(errno))
                 : bytes.full ? why_set(why, ERR_LIMIT, "%s is longer than %zu bytes", full, FILE_BYTES_MAX)
                              : ERR_OK;
    if (e == ERR_OK) *ret = arena_slice(arena, buf_slice(&bytes));
    buf_fini(&bytes);
    fclose(f);
    return e;
}

static enum err yaml(void *ctx, struct slice text, struct arena *arena, const struct json_node **ret, struct why *why) {
    const struct bridge *b = ctx;
    return yaml_tree_read(text, &b->limits, arena, ret, why);
}

static void say(void *ctx, struct slice message) {
    struct bridge *b = ctx;
    if (message.len == 0) return;
    bool good = fwrite(message.ptr, 1, message.len, stdout) == message.len && fputc('\n', stdout) != EOF;
    if (!good || fflush(stdout) != 0) b->is_broken = true;
}

static void cancelled(void *ctx, struct slice id) {
    struct bridge *b = ctx;
    for (uint32_t i = 0; i < RUNNING_MAX; i++) {
        struct mcp_running *r = &b->all[i];
        if (r->is_used && r->x.is_calling && slice_eq(r->x.id, id)) r->is_dropped = true;
    }
}

/* ---- asking the server ---- */

static void look_at_clock(struct bridge *b) {
    b->world.wall_ms = b->c->world->clock->wall(b->c->world->clock).ms;
    b->world.place = b->c->client.address;
}

static void finish(struct bridge *b, struct mcp_running *r) {
    if (!r->is_dropped) say(b, mcp_said(&r->x));
    mcp_end(&r->x);
    r->is_used = r->is_dropped = false;
    r->request = r->part_count = 0;
}

static enum err ask(struct bridge *b, struct mcp_running *r, uint8_t op, const void *message) {
    struct client *client = &b->c->client;
    enum err e = ERR_OK;
    if (client->fd >= 0 && !client_is_alive(client)) client_close(client);
    if (client->fd < 0) e = cli_connect(b->c);
    r->part_count = 0;
    return e == ERR_OK ? client_send(client, (enum wire_op)op, message, &r->request, b->c->why) : e;
}

/* As far as it goes without an answer. */
static void advance(struct bridge *b, struct mcp_running *r) {
    uint8_t op = 0;
    const void *message;
    while ((message = mcp_asks(&r->x, &op)) != NULL) {
        look_at_clock(b);
        if (ask(b, r, op, message) == ERR_OK) return;
        mcp_fail(&r->x, slice_str(b->c->why->text));
    }
    finish(b, r);
}

static void begin(struct bridge *b, struct slice line) {
    struct mcp_running *r = b->all;
    while (r->is_used) r++;
    look_at_clock(b);
    r->is_used = true;
    mcp_begin(&r->x, &b->world, &b->revision, line);
    advance(b, r);
}

/* Whoever was waiting hears why it will not get an answer; the next call finds the server if it is back. */
static void lost(struct bridge *b) {
    client_close(&b->c->client);
    for (uint32_t i = 0; i < RUNNING_MAX; i++) {
        struct mcp_running *r = &b->all[i];
        if (!r->is_used || r->request == 0) continue;
        r->request = r->part_count = 0;
        mcp_fail(&r->x, slice_str(b->c->why->text));
    }
    for (uint32_t i = 0; i < RUNNING_MAX; i++)
        if (b->all[i].is_used && b->all[i].request == 0) advance(b, &b->all[i]);
}

static void hear(struct bridge *b, const struct client_frame *f) {
    for (uint32_t i = 0; i < RUNNING_MAX; i++) {
        struct mcp_running *r = &b->all[i];
        if (!r->is_used || r->request != f->request || !(f->flags & FRAME_ANSWER)) continue;
        bool is_last = !(f->flags & FRAME_MORE), is_refusal = tool_call_is_refusal(f->op);
        if (!is_refusal && f->op != wire_info(r->x.deed.op)->answer) {
            why_set(b->c->why, ERR_UNSUPPORTED, "unexpected answer %s: the server has another version",
                    wire_word(f->op));
            lost(b);
            return;
        }
        if (is_refusal) r->part_count = 0; /* it alone is the answer */
        if (r->part_count < PARTS_MAX) r->parts[r->part_count++] = f->message;
        if (!is_last) return;
        look_at_clock(b);
        r->request = 0;
        mcp_hear(&r->x, f->op, r->parts, r->part_count);
        advance(b, r);
        return;
    }
}

/* Answers stay in memory until nobody needs a part of them. */
static void forget(struct bridge *b) {
    for (uint32_t i = 0; i < RUNNING_MAX; i++)
        if (b->all[i].is_used && b->all[i].part_count > 0) return;
    client_forget(&b->c->client);
}

static void hear_all(struct bridge *b) {
    struct client_frame f;
    while (b->c->client.fd >= 0) {
        if (client_next(&b->c->client, 0, &f, b->c->why) != ERR_OK) {
            lost(b);
            return;
        }
        if (f.op == 0) break;
        hear(b, &f);
        if (b->c->client.fd >= 0) forget(b);
    }
}

/* ---- lines ---- */

static uint32_t running_count(const struct bridge *b) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < RUNNING_MAX; i++) count += b->all[i].is_used;
    return count;
}

/* What was cancelled is stopped at the server, too, and not answered. */
static void drop(struct bridge *b) {
    for (uint32_t i = 0; i < RUNNING_MAX; i++) {
        struct mcp_running *r = &b->all[i];
        uint32_t ignored;
        if (!r->is_used || !r->is_dropped) continue;
        struct wire_stop stop = {.request = r->request};
        if (r->request != 0 && b->c->client.fd >= 0)
            (void)!client_send(&b->c->client, WIRE_STOP, &stop, &ignored, b->c->why);
        finish(b, r);
    }
}

static void take_lines(struct bridge *b) {
    size_t used = 0;
    while (running_count(b) < RUNNING_MAX) {
        const uint8_t *from = b->in.at + used;
        const uint8_t *end = b->in.len > used ? memchr(from, '\n', b->in.len - used) : NULL;
        if (end == NULL) break;
        struct slice line = slice_of(from, (size_t)(end - from));
        used += line.len + 1;
        while (line.len > 0 && (line.ptr[line.len - 1] == '\r' || line.ptr[line.len - 1] == ' ')) line.len--;
        if (!b->is_skipping && line.len > 0) begin(b, line);
        b->is_skipping = false;
        drop(b);
    }
    if (used > 0) memmove(b->in.at, b->in.at + used, b->in.len - used);
    buf_cut(&b->in, b->in.len - used);
}

static void read_input(struct bridge *b) {
    uint8_t *at = buf_space(&b->in, READ_BYTES);
    if (at == NULL) { /* a line that cannot be a message: the reader says so, and the rest of it is passed over */
        if (!b->is_skipping) begin(b, buf_slice(&b->in));
        b->is_skipping = true;
        buf_clear(&b->in);
        return;
    }
    ssize_t n = read(STDIN_FILENO, at, READ_BYTES);
    buf_cut(&b->in, b->in.len - READ_BYTES + (n > 0 ? (size_t)n : 0));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n > 0) return;
    b->is_over = true;
    if (b->in.len > 0) buf_put_u8(&b->in, '\n');
}

static void converse(struct bridge *b) {
    for (;;) {
        take_lines(b); /* first: answers that came have made room for lines that are here already */
        if (b->is_broken || (b->is_over && b->in.len == 0 && running_count(b) == 0)) return;
        bool reads = !b->is_over && running_count(b) < RUNNING_MAX;
        struct pollfd fds[3] = {{.fd = reads ? STDIN_FILENO : -1, .events = POLLIN},
                                {.fd = b->c->client.fd, .events = POLLIN},
                                {.fd = STDOUT_FILENO}};
        if (poll(fds, 3, -1) < 0 && errno != EINTR) return;
        if (fds[2].revents & POLLERR) return; /* nobody is left to read: the agent was killed */
        if (fds[1].revents != 0) hear_all(b);
        if (fds[0].revents != 0) read_input(b);
    }
}

enum err verb_mcp(struct cli *c) {
    struct bridge *b = ARENA_NEW(&c->arena, struct bridge);
    b->c = c;
    c->is_agent = true;
    b->revision = MCP_2025_03_26; /* until one is agreed on */
    limits_default(&b->limits);
    b->world = (struct mcp_world){.ctx = b,
                                  .limits = &b->limits,
                                  .version = c->world->build,
                                  .hash = hash,
                                  .file = file,
                                  .yaml = yaml,
                                  .notify = say,
                                  .cancelled = cancelled};
    buf_init(&b->in, (size_t)b->limits.json_bytes_max + 2 * READ_BYTES);
    converse(b);
    for (uint32_t i = 0; i < RUNNING_MAX; i++)
        if (b->all[i].is_used) mcp_end(&b->all[i].x);
    buf_fini(&b->in);
    return ERR_OK;
}
