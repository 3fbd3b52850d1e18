// Statics with destructors, one of them initialized on first use.
#include <map>
#include <string>
static std::string greeting = "a text that is too long to stand in the object itself";
extern "C" int row_work() {
    static std::map<std::string, int> answers{{greeting, 42}};
    return answers[greeting];
}
