/* The three example functions from the page that documents DLLBind of UnrealScript, without their message boxes. */
#include <stdint.h>
#include <uchar.h>

#pragma pack(4)
struct FVector {
    float x, y, z;
};

/* Reverses the string in place. */
void CallDLL1(char16_t *s) {
    int len = 0;
    while (s[len]) len++;
    for (int i = 0; i < len >> 1; i++) {
        char16_t temp = s[i];
        s[i] = s[len - i - 1];
        s[len - i - 1] = temp;
    }
}

/* Static, so that the struct is valid after the function has returned. */
struct FVector *CallDLL2(float x, float y, float z) {
    static struct FVector result;
    result.x = x;
    result.y = y;
    result.z = z;
    return &result;
}

/* Returns true if the string begins with `o`. The original function returned true if the user clicked OK in a message box. */
uint32_t CallDLL3(const char16_t *s, const int32_t i[2], float *f, struct FVector *v) {
    float old = v->x;
    v->x = (float)i[0];
    v->y = (float)i[1];
    v->z = *f;
    *f = old;
    return s[0] == 'o';
}

/* Counts calls, as long as the library is loaded. */
int32_t calls(void) {
    static int32_t count;
    return ++count;
}
