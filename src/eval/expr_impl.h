/* expr_impl.h: what the files behind expr.h share. All functions that take a lua_State may leave by a Lua error, so
 * nothing that needs freeing is held across them. */
#ifndef REEVE_EXPR_IMPL_H
#define REEVE_EXPR_IMPL_H

#include <lauxlib.h>
#include <lua.h>

#include "expr.h"

enum expr_out_of { OUT_OF_NOTHING, OUT_OF_STEPS, OUT_OF_MEMORY, OUT_OF_STRING };

struct expr {
    const struct expr_input *in;
    struct arena lua;  /* everything the state asks for */
    struct arena json; /* of reading the scope */
    int64_t steps_left;
    size_t text_bytes_max;   /* of the longest text so far */
    size_t vector_bytes_max; /* of the largest block that is no text: no table has more room */
    bool counts;             /* it may have a loop over numbers */
    enum expr_out_of out_of;
    struct buf *out;
    bool truth;
    uint32_t count, count_max;
    void (*take)(lua_State *L, struct expr *x); /* the value on top of the stack */
};

static inline struct expr *expr_of(lua_State *L) {
    return *(struct expr **)lua_getextraspace(L);
}
/* For functions whose work is not counted by instructions. */
void expr_charge(lua_State *L, size_t steps);
/* For reading or writing each byte of a text once. */
void expr_charge_bytes(lua_State *L, size_t bytes);
/* For comparing a text of that many bytes `times` times. */
void expr_charge_compare(lua_State *L, size_t bytes, size_t times);

/* expr_lib.c: the functions, as globals and as methods of strings. */
void expr_lib_open(lua_State *L);

/* expr_json.c: values in and out. */
void expr_json_push(lua_State *L, struct slice json);
void expr_json_write(lua_State *L, int at, struct buf *out);
/* How many keys a table has; charged. Every walk over a table goes through it first. */
size_t expr_walk(lua_State *L, int at);
/* How many items a list has; -1: it is no list. An empty table is one. */
lua_Integer expr_list_length(lua_State *L, int at);
/* Leaves a new list on the stack: the keys of the table at `at`, numbers first, in their order. */
void expr_sorted_keys(lua_State *L, int at);
/* Leaves a new list on the stack: the items of the list at `at`, numbers and texts only, in their order. */
void expr_sort(lua_State *L, int at);

#endif
