/* vault_test.c: blobs and logs as format 1 wrote them must be readable for ever. `vault_test --write DIR` made
 * tests/golden/vault-v1: two lives, packs closed and open, a large blob, a capped log. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "osdigest.h"
#include "osdisk.h"
#include "simdisk.h"
#include "store_fixture.h"

#define GOLDEN "tests/golden/vault-v1"

/* What the folder holds. */
static void story(struct store_fixture *l, bool write) {
    static const uint64_t sizes[] = {1, 300, 66000, 4000, 3000, 2000};
    l->limits.pack_bytes = 8192;
    l->log_cap = 3000;
    for (uint32_t life = 0; life < 2; life++) {
        if (write) assert_int_equal(store_fixture_start(l), ERR_OK);
        for (uint32_t i = 0; i < 6; i++) {
            uint32_t id = life * 10 + i;
            if (write) {
                assert_int_equal(store_fixture_blob(l, id, sizes[i] + life), ERR_OK);
                assert_int_equal(store_fixture_log(l, i % 3, 700 + id), ERR_OK);
                assert_int_equal(store_fixture_flush(l), ERR_OK);
            } else { /* promised, as if it had been put here */
                uint8_t *at = malloc(sizes[i] + 1);
                assert_non_null(at);
                l->blob_bytes[id] = sizes[i] + life;
                for (uint64_t k = 0; k < l->blob_bytes[id]; k++) at[k] = store_fixture_byte(id, k);
                osdigest()->whole(osdigest(), slice_of(at, l->blob_bytes[id]), l->blob_hash[id].at);
                free(at);
                l->blob_acked[id] = true;
                l->log_tried[i % 3] = l->log_acked[i % 3] += 700 + id;
            }
        }
        if (write) store_fixture_stop(l);
    }
}

static void file_load(struct simdisk *s, const char *name) {
    static uint8_t bytes[1 << 20];
    char path[128];
    snprintf(path, sizeof path, "%s/%s", GOLDEN, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL) return;
    size_t len = fread(bytes, 1, sizeof bytes, f);
    assert_true(len > 0 && len < sizeof bytes);
    (void)fclose(f);
    simdisk_put(s, name, bytes, len);
}

static void format_1_is_read(void **state) {
    (void)state;
    static struct store_fixture l;
    struct simdisk *s = simdisk_new(1);
    struct disk *d = simdisk_disk(s);
    struct why why;
    assert_int_equal(d->ops->mkdir(d, "blobs", &why), ERR_OK);
    assert_int_equal(d->ops->mkdir(d, "logs", &why), ERR_OK);
    for (uint32_t i = 1; i < 40; i++) {
        char name[PACKIO_NAME_MAX];
        packio_name(name, "blobs", i, false);
        file_load(s, name);
        packio_name(name, "logs", i, false);
        file_load(s, name);
    }
    store_fixture_init(&l, d);
    story(&l, false);
    assert_int_equal(store_fixture_start(&l), ERR_OK);
    store_fixture_check(&l);
    assert_true(l.bytes_checked > 150000);
    store_fixture_stop(&l);
    simdisk_free(s);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        static struct store_fixture l;
        struct disk *d;
        struct why why;
        ENSURE(osdisk_open(argv[2], &d, &why) == ERR_OK);
        store_fixture_init(&l, d);
        story(&l, true);
        osdisk_close(d);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(format_1_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
