/* Replaces the Windows headers for the C++ of the modeled page. Compiled with `-fshort-wchar`, so that `wchar_t` is one unit of UTF-16. */
#include <stdarg.h>
#include <stdio.h>

#define __declspec(what) __attribute__((visibility("default")))
#define MB_OK 0
#define MB_OKCANCEL 1
#define IDOK 1
#define IDCANCEL 2
#define wcslen page_wcslen

static wchar_t last_message[1024];

static int page_wcslen(const wchar_t *s) {
    int len = 0;
    while (s[len]) len++;
    return len;
}

/* Keeps the message. A message that begins with `string: c` is answered with Cancel. */
static int MessageBox(void *, const wchar_t *message, const wchar_t *, int buttons) {
    int at = 0;
    for (; message[at] && at < 1023; at++) last_message[at] = message[at];
    last_message[at] = 0;
    return buttons == MB_OKCANCEL && at > 8 && message[8] == L'c' ? IDCANCEL : IDOK;
}

/* Formats `%s`, `%d` and `%f`. */
static void swprintf_s(wchar_t *to, int room, const wchar_t *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int at = 0;
    for (; *format && at < room - 1; format++) {
        if (*format != L'%') {
            to[at++] = *format;
            continue;
        }
        format++;
        if (*format == L's') {
            for (const wchar_t *s = va_arg(arguments, const wchar_t *); *s && at < room - 1; s++) to[at++] = *s;
            continue;
        }
        char digits[64];
        if (*format == L'd') snprintf(digits, sizeof digits, "%d", va_arg(arguments, int));
        else snprintf(digits, sizeof digits, "%f", va_arg(arguments, double));
        for (const char *s = digits; *s && at < room - 1; s++) to[at++] = *s;
    }
    to[at] = 0;
    va_end(arguments);
}

extern "C" __declspec(dllexport) const wchar_t *LastMessage() {
    return last_message;
}
