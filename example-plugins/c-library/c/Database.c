/* The functions of SQLite that a class needs: its version, and the answer to a query as one string. SQLite uses pointers, which
 * cannot be declared, so a few lines of C wrap it. */
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>
#include <uchar.h>

static sqlite3 *database;

__attribute__((destructor)) static void close_it(void) {
    sqlite3_close(database);
}

/* Returns the version of SQLite as UTF-16. The string is valid as long as the library is loaded. */
const char16_t *Version(void) {
    static char16_t text[32];
    const char *version = sqlite3_libversion();
    for (int i = 0; i < 31 && version[i]; i++) text[i] = (unsigned char)version[i];
    return text;
}

/* Runs the statements in order. The first column of each row is appended to `answer`, separated by commas, up to its capacity.
 * Returns the error code of SQLite, or zero. */
int32_t Query(const char16_t *statements, char16_t *answer) {
    int32_t room = 0, used = 0;
    while (answer[room]) room++;
    if (!database && sqlite3_open(":memory:", &database) != SQLITE_OK) return SQLITE_CANTOPEN;
    while (*statements) {
        sqlite3_stmt *statement;
        const void *rest;
        int wrong = sqlite3_prepare16_v2(database, statements, -1, &statement, &rest);
        if (wrong) return wrong;
        int step;
        while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
            const char16_t *text = sqlite3_column_text16(statement, 0);
            if (used && used < room) answer[used++] = ',';
            while (text && *text && used < room) answer[used++] = *text++;
        }
        sqlite3_finalize(statement);
        if (step != SQLITE_DONE) return step;
        statements = rest;
    }
    answer[used] = 0;
    return 0;
}
