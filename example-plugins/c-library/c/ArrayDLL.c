/* A dynamic array that must grow. Only the host allocates, so the function returns the needed size, and the host calls it again. */
#include <stdint.h>

#pragma pack(4)
struct FIntArray {
    int32_t *data;
    int32_t num;
    int32_t max;
};

struct Primes {
    struct FIntArray found;
};

static int is_prime(int32_t number) {
    for (int32_t by = 2; by * by <= number; by++)
        if (number % by == 0) return 0;
    return number > 1;
}

/* Fills the array with the primes below `limit`, up to its capacity. Returns the needed capacity. */
int32_t PrimesBelow(struct Primes *primes, int32_t limit) {
    int32_t count = 0;
    for (int32_t number = 2; number < limit; number++) {
        if (!is_prime(number)) continue;
        if (count < primes->found.max) primes->found.data[count] = number;
        count++;
    }
    primes->found.num = count < primes->found.max ? count : primes->found.max;
    return count;
}
