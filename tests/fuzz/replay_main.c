/* replay_main.c: runs a fuzz target over its stored corpus without libFuzzer, so that every input that was ever
 * interesting is a test in every build. The empty input always runs. Prints TAP. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES_MAX ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned run_count;

static void run(const char *name, const uint8_t *data, size_t size) {
    (void)LLVMFuzzerTestOneInput(data, size); /* a finding ends the process */
    printf("ok %u - %s\n", ++run_count, name);
}

static void run_file(const char *folder, const char *name) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    uint8_t *data = malloc(INPUT_BYTES_MAX);
    if (!data) abort();
    size_t size = fread(data, 1, INPUT_BYTES_MAX, file);
    (void)fclose(file);
    uint8_t *exact =
        malloc(size ? size : 1); /* exactly as large as the input, so that ASan sees a read past it */
    if (!exact) abort();
    memcpy(exact, data, size);
    free(data);
    run(name, exact, size);
    free(exact);
}

static int is_input(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv) {
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    run("empty input", (const uint8_t *)"", 0);
    struct dirent **entries = NULL;
    int count = scandir(argv[1], &entries, is_input, alphasort);
    if (count <= 0) {
        (void)fprintf(stderr, "%s: no input in %s\n", argv[0], argv[1]);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        run_file(argv[1], entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    printf("1..%u\n", run_count);
    return 0;
}
