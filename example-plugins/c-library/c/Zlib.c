/* zlib as the crate `libz-sys` brings it has no symbol that is seen from outside, so these hand its calls on. Where zlib is a shared
 * library of its own, the declarations name `crc32`, `compress` and `uncompress` themselves. */
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
