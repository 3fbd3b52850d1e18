/* The zlib of the crate `libz-sys` exports no symbols, so these functions forward its calls. With a shared zlib, the declarations
 * would name `crc32`, `compress` and `uncompress` directly. */
#include <zlib.h>

uLong zlib_crc32(uLong crc, const Bytef *buf, uInt len) {
    return crc32(crc, buf, len);
}

int zlib_compress(Bytef *dest, uLongf *dest_len, const Bytef *source, uLong source_len) {
    return compress(dest, dest_len, source, source_len);
}

int zlib_uncompress(Bytef *dest, uLongf *dest_len, const Bytef *source, uLong source_len) {
    return uncompress(dest, dest_len, source, source_len);
}
