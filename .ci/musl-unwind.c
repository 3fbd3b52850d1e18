// Finds the unwind table of an address. The unwinder of Debian's GCC calls this function of glibc, which musl lacks.
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>

struct found {
    unsigned long long flags;
    void *start, *end, *link_map, *eh_frame;
    unsigned long long reserved[7];
};

struct search {
    uintptr_t address;
    struct found *found;
};

static int visit(struct dl_phdr_info *info, size_t size, void *argument) {
    struct search *search = argument;
    uintptr_t table = 0, start = UINTPTR_MAX, end = 0;
    int holds = 0;
    (void)size;
    for (int at = 0; at < info->dlpi_phnum; at++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[at];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_EH_FRAME) table = begin;
        if (part->p_type != PT_LOAD) continue;
        if (begin < start) start = begin;
        if (begin + part->p_memsz > end) end = begin + part->p_memsz;
        holds |= search->address - begin < part->p_memsz;
    }
    if (!holds || !table) return 0;
    *search->found = (struct found){ .start = (void *)start, .end = (void *)end, .eh_frame = (void *)table };
    return 1;
}

int _dl_find_object(void *address, struct found *found) {
    struct search search = { (uintptr_t)address, found };
    return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}
