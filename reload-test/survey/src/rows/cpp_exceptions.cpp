// An exception that is thrown and caught, on the way through a frame with a destructor.
#include <stdexcept>
#include <string>
static int ended;
struct Guard { ~Guard() { ended++; } };
static void fail(int number) {
    Guard guard;
    throw std::runtime_error("number " + std::to_string(number));
}
extern "C" int row_work() {
    int before = ended;
    try {
        fail(42);
    } catch (const std::exception &error) {
        return std::string(error.what()) == "number 42" && ended == before + 1 ? 42 : 1;
    }
    return 0;
}
