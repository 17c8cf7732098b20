/* entry_test.c: which entries of archives may be unpacked, and where to. */
#include "test.h"

#include "entry.h"

static const struct entry_rules standard = {.path_bytes_max = 64, .depth_max = 4};

static const char *refusal(struct entry e, struct entry_rules rules) {
    static struct why why;
    struct entry_place place;
    why = (struct why){{0}};
    if (entry_check(&e, &rules, &place, &why) == ERR_OK) fail_msg("taken: %.*s", SLICE_FMT(e.path));
    return why.text;
}

static const char *placed(struct entry e, struct entry_rules rules) {
    static struct entry_place place;
    struct why why = {{0}};
    if (entry_check(&e, &rules, &place, &why) != ERR_OK) fail_msg("%s", why.text);
    return e.kind == ENTRY_FILE || e.kind == ENTRY_DIR ? place.path : place.target;
}

#define FILE_AT(name) ((struct entry){.path = SLICE(name), .kind = ENTRY_FILE})
#define LINK(name, to) ((struct entry){.path = SLICE(name), .target = SLICE(to), .kind = ENTRY_SYMLINK})
#define HARD(name, to) ((struct entry){.path = SLICE(name), .target = SLICE(to), .kind = ENTRY_HARDLINK})

static void paths_are_made_plain(void **state) {
    (void)state;
    assert_string_equal(placed(FILE_AT("a"), standard), "a");
    assert_string_equal(placed(FILE_AT("./a//b/./c"), standard), "a/b/c");
    assert_string_equal(placed(FILE_AT("..."), standard), "...");
    assert_string_equal(placed(FILE_AT("a/..b/c.."), standard), "a/..b/c..");
    assert_string_equal(placed((struct entry){.path = SLICE("./"), .kind = ENTRY_DIR}, standard), "");
}

static void nothing_leads_up_or_out(void **state) {
    (void)state;
    assert_string_equal(refusal(FILE_AT(".."), standard), "entry `..` leads out of the archive by `..`");
    assert_has(refusal(FILE_AT("a/../b"), standard), "leads out of the archive by `..`");
    assert_has(refusal(FILE_AT("/etc/passwd"), standard), "entry `/etc/passwd` is an absolute path");
    assert_has(refusal(FILE_AT(""), standard), "has no name");
    assert_has(refusal(FILE_AT("a\0b"), standard), "has a zero byte in its name");
    assert_has(refusal(FILE_AT("a\033[2Jb\n/../"), standard), "entry `a?[2Jb?/../` leads out");
}

static void links_stay_inside(void **state) {
    (void)state;
    assert_string_equal(placed(LINK("a/l", "../b"), standard), "../b");
    assert_string_equal(placed(LINK("a/b/l", ".././../c"), standard), ".././../c");
    assert_string_equal(placed(LINK("l", "."), standard), ".");
    assert_has(refusal(LINK("l", ".."), standard), "entry `l` is a link that leads out of the archive");
    assert_has(refusal(LINK("a/l", "../../b"), standard), "leads out");
    assert_has(refusal(LINK("a/b/l", "c/.."), standard), "leads out"); /* c may be a link itself */
    assert_has(refusal(LINK("a/l", "../b/../../c"), standard), "leads out");
    assert_has(refusal(LINK("l", "/etc"), standard), "is a link to an absolute path");
    assert_has(refusal(LINK("l", ""), standard), "is a link to nothing");
    assert_has(refusal(LINK("l", "a\0b"), standard), "zero byte in its target");
    assert_string_equal(placed(HARD("l", "./a/b"), standard), "a/b");
    assert_has(refusal(HARD("l", "../b"), standard), "leads out");
    assert_has(refusal(HARD("l", "/b"), standard), "leads out");
    assert_has(refusal(HARD("l", "."), standard), "leads out");
}

static void strip_takes_folders_off(void **state) {
    (void)state;
    struct entry_rules strip = standard;
    strip.strip = 1;
    assert_string_equal(placed(FILE_AT("top/a/b"), strip), "a/b");
    assert_string_equal(placed((struct entry){.path = SLICE("top/"), .kind = ENTRY_DIR}, strip), "");
    assert_string_equal(placed(HARD("top/l", "top/a"), strip), "a");
    assert_string_equal(placed(LINK("top/a/l", "../b"), strip), "../b");
    assert_has(refusal(FILE_AT("readme"), strip), "is not in as many folders as `strip` takes off");
    assert_has(refusal(LINK("top/l", "../top/a"), strip), "leads out");
    assert_has(refusal(HARD("top/l", "top"), strip), "leads out");
}

static void a_path_has_its_limits(void **state) {
    (void)state;
    assert_string_equal(placed(FILE_AT("a/b/c/d"), standard), "a/b/c/d");
    assert_has(refusal(FILE_AT("a/b/c/d/e"), standard), "lies too deep (archive_depth_max)");
    char text[5000];
    memset(text, 'x', sizeof text);
    struct entry e = {.path = slice_of(text, 63), .kind = ENTRY_FILE};
    assert_int_equal(strlen(placed(e, standard)), 63);
    e.path.len = 64;
    assert_has(refusal(e, standard), "has too long a path (archive_path_bytes_max)");
    struct entry_rules wide = {.path_bytes_max = 4000, .depth_max = 4};
    e.path.len = 3999;
    assert_int_equal(strlen(placed(e, wide)), 3999);
    e.path.len = 5000;
    assert_has(refusal(e, wide), "too long a path");
    struct entry l = {.path = SLICE("l"), .target = slice_of(text, 65), .kind = ENTRY_SYMLINK};
    assert_has(refusal(l, standard), "too long a target");
}

static void kinds_and_rights_are_looked_at(void **state) {
    (void)state;
    struct entry e = FILE_AT("x");
    e.mode = 0755;
    assert_string_equal(placed(e, standard), "x");
    e.mode = 04755;
    assert_has(refusal(e, standard), "entry `x` would run with another's rights (setuid or setgid)");
    e.mode = 02755;
    assert_has(refusal(e, standard), "setuid or setgid");
    e.kind = ENTRY_DIR; /* it only says whose group new files have */
    assert_string_equal(placed(e, standard), "x");
    assert_has(refusal((struct entry){.path = SLICE("x"), .kind = ENTRY_DEVICE}, standard), "is a device");
    assert_has(refusal((struct entry){.path = SLICE("x"), .kind = ENTRY_PIPE}, standard), "is a named pipe");
    assert_has(refusal((struct entry){.path = SLICE("x"), .kind = ENTRY_UNKNOWN}, standard), "is neither a file");
    assert_has(refusal((struct entry){.path = SLICE("x"), .is_encrypted = true}, standard), "is encrypted");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_made_plain),  cmocka_unit_test(nothing_leads_up_or_out),
        cmocka_unit_test(links_stay_inside),     cmocka_unit_test(strip_takes_folders_off),
        cmocka_unit_test(a_path_has_its_limits), cmocka_unit_test(kinds_and_rights_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
