// `ProcessPrng` of Windows 10, which Rust's standard library imports and Wine 8 lacks.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(void *bytes, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *bytes, SIZE_T length) {
    return SystemFunction036(bytes, (ULONG)length);
}
