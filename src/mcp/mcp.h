/* mcp.h: the Model Context Protocol, without its transport: a text that an agent sent, what it leads to, and the text
 * that answers it. One text is one message, or a batch of them (revision 2025-03-26 has batches); those of a batch are
 * served one after the other.
 *
 * Whoever drives an exchange asks the server what it wants asked and gives it the answer, until it is over:
 *
 *     mcp_begin(&x, …);
 *     while ((message = mcp_asks(&x, &op)) != NULL) { …ask… mcp_hear(&x, op, parts, count); }
 *     send mcp_said(&x), unless it is empty; mcp_end(&x);
 *
 * Nothing is kept between exchanges but the revision that was agreed on. */
#ifndef REEVE_MCP_H
#define REEVE_MCP_H

#include "rpc.h"
#include "tool.h"

#define MCP_BATCH_MAX 64u            /* messages in one */
#define MCP_SAID_BYTES_MAX (8u << 20) /* a batch of long results */
/* Trees are made of what an agent sent, and refused when they are larger than this; whatever else is allocated is a
 * small multiple of a tree, so its maximum is out of reach. */
#define MCP_TREES_BYTES_MAX ((size_t)256 << 20)
#define MCP_ARENA_BYTES_MAX ((size_t)4 << 30)

enum mcp_revision { MCP_2024_11_05, MCP_2025_03_26, MCP_2025_06_18, MCP_REVISION_COUNT };
extern const char *const mcp_revision_words[MCP_REVISION_COUNT];
bool mcp_revision_of(struct slice word, enum mcp_revision *ret);

struct mcp_exchange {
    struct arena arena, trees;
    const struct mcp_world *world;
    enum mcp_revision *revision; /* agreed on; initialize sets it */
    struct slice text;
    const struct json_node *next; /* of a batch: not looked at yet */
    bool is_batch, is_calling, was_initialize;
    bool is_bad; /* the text is not a message at all */
    struct slice id; /* of the call that is under way */
    struct tool_call deed;
    struct buf said;
    struct json json;
    uint32_t said_count;
};

void mcp_begin(struct mcp_exchange *x, const struct mcp_world *world, enum mcp_revision *revision, struct slice text);
/* The message to be asked, or NULL: the exchange is over. */
const void *mcp_asks(const struct mcp_exchange *x, uint8_t *ret_op);
void mcp_hear(struct mcp_exchange *x, uint8_t op, const void *const *parts, uint32_t count);
/* The answer to what was asked will not come; the exchange goes on. */
void mcp_fail(struct mcp_exchange *x, struct slice why);
struct slice mcp_said(const struct mcp_exchange *x); /* empty = nothing is answered */
void mcp_end(struct mcp_exchange *x);

#endif
