/* json_fuzz.c: our JSON reader and jansson accept the same texts and read the same values from them. */
#include "json_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)json_oracle_agree(slice_of(data, size));
    return 0;
}
