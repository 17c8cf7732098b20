/* sandbox.c: what a job may see and do here: what it asks for, and at least what the worker's owner does. Whatever
 * cannot be kept is refused: a job never runs with less around it than it, or the owner, asked for. */
#include "agent_impl.h"

/* Absolute, and spelled so that it can be compared. */
static enum err path_check(struct slice path, struct why *why) {
    bool is_bad = path.len == 0 || path.len >= SPACE_PATH_MAX || path.ptr[0] != '/' || memchr(path.ptr, 0, path.len);
    for (size_t i = 1, from = 1; i <= path.len && !is_bad; i++) {
        if (i < path.len && path.ptr[i] != '/') continue;
        struct slice name = slice_of(path.ptr + from, i - from);
        is_bad = slice_eq(name, SLICE("..")) || slice_eq(name, SLICE(".")) || (name.len == 0 && i < path.len);
        from = i + 1;
    }
    if (!is_bad) return ERR_OK;
    return why_set(why, ERR_INVALID, "its sandbox names `%.*s`, which is not a plain absolute path", SLICE_FMT(path));
}

static bool is_below(struct slice path, const char *const *tops) {
    for (; tops != NULL && *tops != NULL; tops++) {
        struct slice top = slice_str(*tops);
        if (path.len < top.len || memcmp(path.ptr, top.ptr, top.len) != 0) continue;
        if (path.len == top.len || path.ptr[top.len] == '/' || top.len == 1) return true;
    }
    return false;
}

static enum err path_judge(const struct agent_sandbox *o, struct slice path, struct why *why) {
    static const char *const processes[] = {"/proc", NULL};
    bool is_own = path.len == 1 || slice_eq(path, SLICE("/dev")) || slice_eq(path, SLICE("/tmp"));
    if (is_own || is_below(path, processes))
        return why_set(why, ERR_INVALID, "its sandbox names `%.*s`, of which it has one of its own", SLICE_FMT(path));
    if (is_below(path, o->hide))
        return why_set(why, ERR_FORBIDDEN, "its sandbox names `%.*s`, which is the worker's own", SLICE_FMT(path));
    if ((o->least & WIRE_SANDBOX_FILES) && !is_below(path, o->paths))
        return why_set(why, ERR_FORBIDDEN,
                       "its sandbox names `%.*s`, which this worker does not open to jobs (--sandbox-path)",
                       SLICE_FMT(path));
    return ERR_OK;
}

static enum err paths_make(struct agent *a, const struct tlv_list *given, const char *const **ret, struct why *why) {
    const struct wire_arg *args = given->at;
    const char **list = ARENA_ARRAY(&a->arena, const char *, given->count + 1);
    for (uint32_t i = 0; i < given->count; i++) {
        struct slice path = args[i].text;
        while (path.len > 1 && path.ptr[path.len - 1] == '/') path.len--;
        enum err e = path_check(path, why);
        if (e == ERR_OK) e = path_judge(&a->o.sandbox, path, why);
        if (e != ERR_OK) return e;
        char *text = arena_alloc(&a->arena, path.len + 1);
        memcpy(text, path.ptr, path.len);
        list[i] = text;
    }
    *ret = list;
    return ERR_OK;
}

/* The worker, which is outside, would find nobody there. */
static enum err health_check(const struct wire_probe *health, const struct proc_sandbox *s, struct why *why) {
    if (s->net_off && (health->kind == WIRE_PROBE_TCP || health->kind == WIRE_PROBE_HTTP))
        return why_set(why, ERR_UNSUPPORTED, "its health is asked over the network, which its sandbox is without");
    return ERR_OK;
}

enum err sandbox_make(struct agent *a, const struct attempt *t, const struct wire_run *run, struct proc_sandbox *ret,
                      struct why *why) {
    const struct agent_sandbox *o = &a->o.sandbox;
    uint32_t wanted = run->sandbox | o->least;
    struct proc_sandbox s = {.own_uid = o->own_uids};
    enum err e = ERR_OK;
    if (wanted & ~(uint32_t)WIRE_SANDBOX_ALL)
        return why_set(why, ERR_UNSUPPORTED, "it asks for a kind of sandbox that this worker does not know");
    if (wanted != 0 && o->cannot != NULL)
        return why_set(why, ERR_UNSUPPORTED, "this worker cannot keep a sandbox: %s", o->cannot);
    s.is_on = wanted != 0;
    s.net_off = (wanted & WIRE_SANDBOX_NET_OFF) != 0;
    s.files = (wanted & WIRE_SANDBOX_FILES) != 0;
    e = health_check(&run->health, &s, why);
    if (e == ERR_OK && s.files) {
        s.own_uid = o->own_uids || o->own_uids_in_files;
        s.hide = o->hide;
        e = paths_make(a, &run->sandbox_read, &s.read, why);
        if (e == ERR_OK) e = paths_make(a, &run->sandbox_write, &s.write, why);
    }
    if (e == ERR_OK && (s.is_on || s.own_uid)) {
        char *space = arena_alloc(&a->arena, SPACE_PATH_MAX);
        a->w.space->ops->path(a->w.space, t->space, "", space);
        s.space = space;
    }
    if (e == ERR_OK) *ret = s;
    return e;
}
