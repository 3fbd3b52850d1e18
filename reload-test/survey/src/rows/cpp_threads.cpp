// A thread that is joined.
#include <thread>
extern "C" int row_work() {
    int answer = 0;
    std::thread thread([&] { answer = 42; });
    thread.join();
    return answer;
}
