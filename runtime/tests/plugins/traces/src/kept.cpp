// Contains a habit for each pointer that the C++ shared library stores, and a check that uses the pointer.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory_resource>
#include <new>
#include <sstream>
#include <string>
#include <vector>

namespace __gnu_cxx { void __verbose_terminate_handler(); }

static void no_memory() { std::set_new_handler(nullptr); }
static void end() { std::abort(); }

struct Resource : std::pmr::memory_resource {
    void *do_allocate(std::size_t size, std::size_t) override { return std::malloc(size); }
    void do_deallocate(void *block, std::size_t, std::size_t) override { std::free(block); }
    bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }
};
static Resource resource;

struct Buffer : std::streambuf {
    int overflow(int letter) override { return letter; }
    std::streamsize xsputn(const char *, std::streamsize len) override { return len; }
};
static Buffer buffer;
static std::ostringstream tied;

extern "C" int traces_cpp_leave(const char *name) {
    std::string habit = name;
    if (habit == "cpp_new_handler") std::set_new_handler(no_memory);
    else if (habit == "cpp_terminate") std::set_terminate(end);
    else if (habit == "cpp_unexpected") std::set_unexpected(end);
    else if (habit == "cpp_resource") std::pmr::set_default_resource(&resource);
    else if (habit == "cpp_buffer") std::cout.rdbuf(&buffer);
    else if (habit == "cpp_buffer_on_the_heap") std::cout.rdbuf(new Buffer);
    else if (habit == "cpp_tie") { std::cout.tie(&tied); std::wcin.tie(nullptr); }
    else if (habit == "cpp_stale") {
        // Restores a found handler after its module was unloaded.
        if (const char *old = std::getenv("TRACES_OLD_HANDLER"))
            std::set_terminate((void (*)())std::strtoul(old, nullptr, 10));
        ::setenv("TRACES_OLD_HANDLER", std::to_string((unsigned long)end).c_str(), 1);
    }
    else return 0;
    return 1;
}

extern "C" const char *traces_cpp_look(const char *name) {
    std::string habit = name;
    if (habit == "cpp_new_handler") {
        try {
            ::operator delete(::operator new(~0ul >> 2));
            return "there is memory";
        } catch (const std::bad_alloc &) {
            return "no memory";
        }
    }
    if (habit == "cpp_terminate" || habit == "cpp_stale")
        return std::get_terminate() == __gnu_cxx::__verbose_terminate_handler ? "as before" : "not as before";
    if (habit == "cpp_unexpected") return std::get_unexpected() == std::terminate ? "as before" : "not as before";
    if (habit == "cpp_resource") {
        std::pmr::vector<int> row(1000, 7);
        return row.size() == 1000 ? "allocated" : "not allocated";
    }
    std::cout << "written by C++ after the reload\n" << std::flush;
    return std::cout.good() ? "written" : "not written";
}
