/* entry_fuzz.c: whatever an archive calls its entries, what is let pass stays inside: its path has no way up, and a
 * link, walked by the letter from the folder it lies in, is never above the top. */
#include "entry.h"
#include "panic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How far below the top a walk along `path` ends that starts at `depth`; panics when it was above it. */
static int walk(const char *path, int depth, bool may_go_up) {
    while (*path != 0) {
        size_t len = strcspn(path, "/");
        if (len == 2 && memcmp(path, "..", 2) == 0) {
            ENSURE(may_go_up);
            depth--;
        } else if (len > 0 && !(len == 1 && path[0] == '.')) {
            depth++;
            may_go_up = false; /* the name may be a link: from here on only downwards */
        }
        ENSURE(depth >= 0);
        path += len + (path[len] == '/');
    }
    return depth;
}

/* kind, strip, mode (2), length of the path, the path, the target */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct entry_place place;
    struct why why;
    if (size < 5) return 0;
    size_t path_len = data[4] < size - 5 ? data[4] : size - 5;
    struct entry e = {.path = slice_of(data + 5, path_len),
                      .target = slice_of(data + 5 + path_len, size - 5 - path_len),
                      .kind = (enum entry_kind)(data[0] % (ENTRY_UNKNOWN + 1)),
                      .is_encrypted = data[0] & 128,
                      .mode = (uint32_t)(data[2] << 8 | data[3])};
    struct entry_rules rules = {.path_bytes_max = 100, .depth_max = 8, .strip = data[1] % 4};
    if (entry_check(&e, &rules, &place, &why) != ERR_OK) {
        ENSURE(strncmp(why.text, "entry `", 7) == 0);
        for (const char *at = why.text; *at != 0; at++) ENSURE((uint8_t)*at >= 0x20 && *at != 0x7f);
        return 0;
    }
    int depth = walk(place.path, 0, false);
    ENSURE(place.path[0] != '/' && depth <= 8 && strlen(place.path) <= 100 && !e.is_encrypted);
    ENSURE(place.is_nothing == (place.path[0] == 0));
    if (e.kind == ENTRY_SYMLINK) {
        ENSURE(place.target[0] != '/' && place.target[0] != 0);
        (void)walk(place.target, depth - 1, true);
    }
    if (e.kind == ENTRY_HARDLINK) ENSURE(walk(place.target, 0, false) > 0 && place.target[0] != '/');
    return 0;
}
