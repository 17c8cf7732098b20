/* titan_place.c: see titan_place.h. */
#include "titan_place.h"

#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "panic.h"

struct held_script {
    char file[TITAN_PLACE_PATH_MAX];
    uint64_t hash, bytes; /* of what is in it */
    uint32_t users;       /* 0 = this place is free */
};

void titan_place_init(struct titan_place *p, struct space *space) {
    p->space = space;
    vec_init(&p->held, sizeof(struct held_script));
}

void titan_place_fini(struct titan_place *p) {
    vec_fini(&p->held);
}

/* NAME, NAME~2, …; the ending stays, it chooses the interpreter. */
static bool file_name(const char *folder, const char *name, uint32_t version, char ret[TITAN_PLACE_PATH_MAX]) {
    const char *dot = strrchr(name, '.');
    int stem = dot != NULL && dot != name ? (int)(dot - name) : (int)strlen(name);
    char number[16] = "";
    if (version > 1) snprintf(number, sizeof number, "~%u", version);
    int len = snprintf(ret, TITAN_PLACE_PATH_MAX, "%s%s%.*s%s%s", folder, folder[0] != 0 ? "/" : "", stem, name, number,
                       name + stem);
    return len > 0 && (size_t)len < TITAN_PLACE_PATH_MAX;
}

static struct held_script *find(const struct titan_place *p, const char *file) {
    for (uint32_t i = 0; i < p->held.count; i++) {
        struct held_script *h = vec_at(&p->held, i);
        if (h->users > 0 && strcmp(h->file, file) == 0) return h;
    }
    return NULL;
}

static struct held_script *free_place(struct titan_place *p) {
    for (uint32_t i = 0; i < p->held.count; i++) {
        struct held_script *h = vec_at(&p->held, i);
        if (h->users == 0) return h;
    }
    return vec_push(&p->held);
}

static uint32_t ticket_of(const struct titan_place *p, const struct held_script *h) {
    return (uint32_t)(h - (const struct held_script *)vec_at(&p->held, 0)) + 1;
}

enum err titan_place_take(struct titan_place *p, const char *folder, const char *name, struct slice bytes,
                          uint32_t *ret_ticket, char ret_file[TITAN_PLACE_PATH_MAX], struct why *why) {
    char file[TITAN_PLACE_PATH_MAX];
    uint64_t hash = hash64(bytes.ptr, bytes.len, 0);
    struct held_script *h = NULL;
    for (uint32_t version = 1;; version++) {
        if (!file_name(folder, name, version, file))
            return why_set(why, ERR_LIMIT, "the name of a script is too long: %s", name);
        h = find(p, file);
        if (h == NULL || (h->hash == hash && h->bytes == bytes.len)) break;
    }
    if (h == NULL) {
        enum err e = p->space->ops->write(p->space, TITAN_PLACE_SPACE, file, bytes, true, why);
        if (e != ERR_OK) return e;
        h = free_place(p);
        *h = (struct held_script){.hash = hash, .bytes = bytes.len};
        memcpy(h->file, file, sizeof file);
    }
    h->users++;
    *ret_ticket = ticket_of(p, h);
    memcpy(ret_file, file, sizeof file);
    return ERR_OK;
}

void titan_place_give(struct titan_place *p, uint32_t *ticket) {
    if (*ticket == 0) return;
    struct held_script *h = vec_at(&p->held, *ticket - 1);
    REQUIRE(h->users > 0);
    h->users--;
    *ticket = 0;
}

enum err titan_place_shared(struct titan_place *p, const char *folder, char ret[SPACE_PATH_MAX], struct why *why) {
    char file[TITAN_PLACE_PATH_MAX];
    const char *slash = folder[0] != 0 ? "/" : "";
    snprintf(file, sizeof file, "%s%s" TITAN_PLACE_SHARED "/.shared", folder, slash); /* with a file comes its folder */
    enum err e = p->space->ops->write(p->space, TITAN_PLACE_SPACE, file, (struct slice){0}, false, why);
    snprintf(file, sizeof file, "%s%s" TITAN_PLACE_SHARED, folder, slash);
    p->space->ops->path(p->space, TITAN_PLACE_SPACE, file, ret);
    return e;
}
