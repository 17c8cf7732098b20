/* unpack_test.c: the child that unpacks, by itself: hostile archives, limits, and whatever chance makes. That nothing
 * outside the workspace has changed is looked at after every single run (unpacklab.h). */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"
#include "unpacklab.h"

static struct unpacklab lab;
static struct packer packer;

static void begin(const char *format) {
    unpacklab_fresh(&lab);
    packer_open(&packer, lab.archive, format);
}

static void refused(const char *words) {
    packer_close(&packer);
    int code = unpacklab_run(&lab);
    if (code != PROC_REFUSED) fail_msg("exit %d, not a refusal (%s): %s", code, words, lab.said);
    assert_has(lab.said, words);
    char path[128], told[512] = "";
    snprintf(path, sizeof path, "%s/space/refusal", lab.dir); /* what the worker reads */
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    told[fread(told, 1, sizeof told - 1, f)] = 0;
    fclose(f);
    assert_has(told, words);
}

static void runs(const char *output) {
    packer_close(&packer);
    int code = unpacklab_run(&lab);
    if (code != 0) fail_msg("exit %d: %s", code, lab.said);
    assert_string_equal(lab.said, output);
}

/* ---- hostile entries ---- */

static const struct {
    enum packer_kind kind;
    const char *path;
    unsigned mode;
    const char *text, *words;
} hostile[] = {
    {PACK_FILE, "../outside/file", 0644, "x", "a: entry `../outside/file` leads out of the archive by `..`"},
    {PACK_FILE, "sub/../../../outside/file", 0644, "x", "leads out of the archive by `..`"},
    {PACK_FILE, "/tmp/reeve-was-here", 0644, "x", "entry `/tmp/reeve-was-here` is an absolute path"},
    {PACK_DIR, "../outside/new", 0755, NULL, "leads out of the archive by `..`"},
    {PACK_SYMLINK, "link", 0777, "../../outside", "entry `link` is a link that leads out of the archive"},
    {PACK_SYMLINK, "link", 0777, "/etc/passwd", "entry `link` is a link to an absolute path"},
    {PACK_SYMLINK, "sub/link", 0777, "../../x", "is a link that leads out of the archive"},
    {PACK_HARDLINK, "link", 0644, "../../outside/file", "is a link that leads out of the archive"},
    {PACK_HARDLINK, "link", 0644, "/etc/passwd", "is a link that leads out of the archive"},
    {PACK_HARDLINK, "link", 0644, "nowhere", "is a link to something that is no file before it"},
    {PACK_PIPE, "pipe", 0644, NULL, "entry `pipe` is a named pipe"},
    {PACK_DEVICE, "null", 0644, NULL, "entry `null` is a device"},
    {PACK_FILE, "su", 04755, "#!/bin/sh\n", "entry `su` would run with another's rights"},
    {PACK_FILE, "main.sh", 0644, "echo second\n", "entry `main.sh` is there already"},
    {PACK_FILE, "main.sh/x", 0644, "x", "entry `main.sh/x` goes through something that is no folder"},
};

static void hostile_entries_are_refused_by_name(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        begin("tar");
        packer_file(&packer, "main.sh", "echo ran\n");
        packer_add(&packer, hostile[i].kind, hostile[i].path, hostile[i].mode, hostile[i].text);
        refused(hostile[i].words);
        assert_has_not(lab.said, "ran\n");
    }
    assert_int_not_equal(access("/tmp/reeve-was-here", F_OK), 0);
    static const char *const in_zips[] = {"../outside/file", "/tmp/reeve-was-here"};
    for (size_t i = 0; i < 2; i++) {
        begin("zip");
        packer_file(&packer, in_zips[i], "x");
        refused(i == 0 ? "leads out of the archive by `..`" : "is an absolute path");
    }
    begin("zip");
    packer_add(&packer, PACK_SYMLINK, "link", 0777, "../../outside/file");
    refused("is a link that leads out of the archive");
}

static void nothing_is_written_through_a_link(void **state) {
    (void)state;
    begin("tar"); /* links that are fine by themselves */
    packer_add(&packer, PACK_DIR, "real", 0755, NULL);
    packer_add(&packer, PACK_SYMLINK, "way", 0777, "real");
    packer_file(&packer, "way/main.sh", "echo ran\n");
    refused("entry `way/main.sh` goes through a link");
    begin("tar");
    packer_add(&packer, PACK_SYMLINK, "main.sh", 0777, "victim");
    packer_file(&packer, "main.sh", "echo ran\n");
    refused("entry `main.sh` is there already");
    begin("tar");
    packer_add(&packer, PACK_DIR, "real", 0755, NULL);
    packer_add(&packer, PACK_SYMLINK, "way", 0777, "real");
    packer_add(&packer, PACK_DIR, "way", 0755, NULL);
    refused("entry `way/` goes through a link");
    begin("tar"); /* by the letter it ends at the top; by the first link, above it */
    packer_add(&packer, PACK_SYMLINK, "sub/top", 0777, "..");
    packer_add(&packer, PACK_SYMLINK, "out", 0777, "sub/top/../../outside/file");
    refused("entry `out` is a link that leads out of the archive");
    begin("tar");
    packer_add(&packer, PACK_SYMLINK, "x/y/top", 0777, "../..");
    packer_add(&packer, PACK_SYMLINK, "x/y/out", 0777, "top/../outside/file");
    refused("entry `x/y/out` is a link that leads out of the archive");
    begin("tar");
    packer_file(&packer, "file", "x");
    packer_add(&packer, PACK_SYMLINK, "way", 0777, "file");
    packer_add(&packer, PACK_HARDLINK, "link", 0644, "way");
    refused("is a link to something that is no file");
}

static void links_inside_are_made(void **state) {
    (void)state;
    begin("tar");
    packer_file(&packer, "data/words", "hello\n");
    packer_add(&packer, PACK_SYMLINK, "bin/words", 0777, "../data/words");
    packer_add(&packer, PACK_HARDLINK, "other/words", 0644, "data/words");
    packer_file(&packer, "main.sh", "cat bin/words other/words; echo \"$1,$2\"\n");
    runs("hello\nhello\none,two words\n");
}

/* ---- limits ---- */

static void too_much_is_refused(void **state) {
    (void)state;
    begin("tar.gz");
    packer_file(&packer, "main.sh", "echo ran\n");
    packer_zeroes(&packer, "zeroes", 17u << 20);
    refused("entry `zeroes` is where the archive unpacks to more than archive_ratio_max times its size");
    lab.bytes = 1u << 20;
    begin("tar");
    packer_zeroes(&packer, "half", 700000);
    packer_zeroes(&packer, "rest", 700000);
    refused("entry `rest` is where the archive becomes larger than archive_bytes_max allows");
    lab.bytes = 64u << 20;
    lab.entries = 3;
    begin("zip");
    for (int i = 0; i < 4; i++) packer_file(&packer, (const char *[]){"a", "b", "c", "d"}[i], "x");
    refused("entry `d` is one more than archive_entries_max allows");
    lab.entries = 1000;
    lab.depth = 3;
    begin("zip");
    packer_file(&packer, "a/b/c/d", "x");
    refused("entry `a/b/c/d` lies too deep (archive_depth_max)");
    lab.depth = 64;
    lab.path = 16;
    begin("tar");
    packer_file(&packer, "a-name-of-seventeen", "x");
    refused("has too long a path (archive_path_bytes_max)");
    lab.path = 1024;
}

static void zeroes_may_be_packed_tightly_when_they_are_few(void **state) {
    (void)state;
    begin("tar.xz");
    packer_zeroes(&packer, "zeroes", 16000000);
    packer_file(&packer, "main.sh", "wc -c <zeroes\n");
    runs("16000000\n");
}

/* ---- not what it seems ---- */

static void write_archive(const char *bytes, size_t count) {
    FILE *f = fopen(lab.archive, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    fclose(f);
}

static void said_refused(const char *words) {
    if (unpacklab_run(&lab) != PROC_REFUSED) fail_msg("not refused (%s): %s", words, lab.said);
    assert_has(lab.said, words);
}

static void what_is_no_archive_is_refused(void **state) {
    (void)state;
    unpacklab_fresh(&lab);
    write_archive("#!/bin/sh\necho no archive at all, but long enough to be looked at\n", 67);
    said_refused("a: it is no zip or tar archive");
    write_archive("", 0);
    said_refused("reeve: a: ");
    begin("zip!");
    packer_file(&packer, "main.sh", "echo ran\n");
    refused("entry `main.sh` is encrypted");
    begin("tar.gz.gz");
    packer_file(&packer, "main.sh", "echo ran\n");
    refused("it is compressed more than once");
}

static void a_damaged_archive_is_refused(void **state) {
    (void)state;
    static const char *const formats[] = {"tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst", "zip"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        begin(formats[i]);
        packer_file(&packer, "main.sh", "echo ran\n");
        packer_zeroes(&packer, "zeroes", 300000);
        packer_close(&packer);
        struct stat st;
        assert_int_equal(stat(lab.archive, &st), 0);
        assert_int_equal(truncate(lab.archive, st.st_size / 2), 0);
        said_refused("reeve: a: ");
        assert_has_not(lab.said, "ran\n");
    }
}

static void without_the_library_a_sentence_says_so(void **state) {
    (void)state;
    char path[128];
    begin("zip");
    packer_file(&packer, "main.sh", "echo ran\n");
    snprintf(path, sizeof path, "%s/space/work/libarchive.so.13", lab.dir);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs("no library", f);
    fclose(f);
    snprintf(path, sizeof path, "%s/space/work", lab.dir);
    lab.library_path = path;
    packer_close(&packer);
    int code = unpacklab_run(&lab);
    lab.library_path = NULL;
    assert_int_equal(code, PROC_REFUSED);
    assert_has(lab.said, "archives need libarchive.so.13 on the worker, and it is not there");
}

/* ---- whatever chance makes ---- */

static const char *const names[] = {"a",         "b",      "a/b",     "a/b/c", "b/a", "..",    "../outside/file",
                                    "a/../../b", "/tmp/x", "main.sh", "a/..",  "./a", "b/./c", "l"};
static const char *const targets[] = {
    "a",       "b",          "..",   "../..",         "../outside", "a/..",  "../../../outside/file",
    "l/../..", "b/../../..", "/tmp", "../../outside", ".",          "a/b/c", "../a"};

static const char *pick(struct test_random *r, const char *const *from, size_t count) {
    return from[test_random_below(r, count)];
}

/* Links that were made lead to nothing outside. */
static void links_check(void) {
    char command[256];
    snprintf(command, sizeof command,
             "cd %s/space/work && ! find . -type l -exec realpath -m {} + | grep -v \"^$(pwd -P)\\(/\\|$\\)\"",
             lab.dir);
    assert_int_equal(system(command), 0);
}

static void whatever_is_in_it_nothing_outside_changes(void **state) {
    (void)state;
    static const char *const formats[] = {"tar", "zip"};
    struct test_random r = {20260101};
    unsigned refusals = 0, successes = 0;
    for (int round = 0; round < 60; round++) {
        begin(pick(&r, formats, 2));
        packer_file(&packer, "main", "#!/bin/sh\necho ran\n");
        for (uint64_t n = 1 + test_random_below(&r, 4); n > 0; n--) {
            enum packer_kind kind = (enum packer_kind)test_random_below(&r, 4);
            const char *path = pick(&r, names, sizeof names / sizeof names[0]);
            const char *target = pick(&r, targets, sizeof targets / sizeof targets[0]);
            packer_add(&packer, kind, path, 0755, target);
        }
        packer_close(&packer);
        int code = unpacklab_run(&lab);
        if (code != 0 && code != PROC_REFUSED) fail_msg("round %d: exit %d: %s", round, code, lab.said);
        code == 0 ? successes++ : refusals++;
        links_check();
    }
    print_message("# %u unpacked, %u refused\n", successes, refusals);
    assert_true(successes > 5 && refusals > 5);
}

static void whatever_bytes_it_has_nothing_outside_changes(void **state) {
    (void)state;
    static const char *const formats[] = {"tar", "zip", "tar.gz", "tar.zst", "tar.xz", "tar.bz2"};
    struct test_random r = {7};
    char bytes[65536];
    for (int round = 0; round < 36; round++) {
        begin(formats[round % 6]);
        packer_file(&packer, "main", "#!/bin/sh\necho ran\n");
        packer_add(&packer, PACK_SYMLINK, "l", 0777, "main");
        packer_add(&packer, PACK_FILE, "sub/file", 0755, "text text text text\n");
        packer_close(&packer);
        FILE *f = fopen(lab.archive, "re");
        assert_non_null(f);
        size_t count = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        for (int flips = 0; flips < 3; flips++) bytes[test_random_below(&r, count)] = (char)test_random_next(&r);
        write_archive(bytes, count);
        int code = unpacklab_run(&lab); /* its program may be damaged, too: any exit code, but no crash of ours */
        if (code > 128) fail_msg("round %d: %d: %s", round, code, lab.said);
        assert_has_not(lab.said, "died of signal");
        assert_has_not(lab.said, "Sanitizer");
        links_check();
    }
}

static int setup(void **state) {
    (void)state;
    unpacklab_make(&lab);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unpacklab_remove(&lab);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_entries_are_refused_by_name),
        cmocka_unit_test(nothing_is_written_through_a_link),
        cmocka_unit_test(links_inside_are_made),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(zeroes_may_be_packed_tightly_when_they_are_few),
        cmocka_unit_test(what_is_no_archive_is_refused),
        cmocka_unit_test(a_damaged_archive_is_refused),
        cmocka_unit_test(without_the_library_a_sentence_says_so),
        cmocka_unit_test(whatever_is_in_it_nothing_outside_changes),
        cmocka_unit_test(whatever_bytes_it_has_nothing_outside_changes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
