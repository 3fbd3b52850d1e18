// A thread-local with a destructor.
#include <string>
#include <vector>
thread_local std::vector<std::string> words;
extern "C" int row_work() {
    words.assign(3, "a text that is too long to stand in the object itself");
    return words.size() == 3 ? 42 : 0;
}
