/* System V ABI, "Object Files": an ELF file's section headers, symbol table and string table. A
   cubin stores a variable's value in the section that its symbol names, at the symbol's offset. */
#include "device/cubin.h"

#include <elf.h>
#include <string.h>

struct file {
    const char *bytes;
    size_t size;
};

/* Copies `count` bytes at an offset; false if they are not all in the file. */
static bool copy_bytes(const struct file *file, uint64_t offset, void *to, size_t count) {
    if (offset > file->size || count > file->size - offset)
        return false;
    memcpy(to, file->bytes + offset, count);
    return true;
}

static bool read_section(const struct file *file, uint64_t index, Elf64_Shdr *section) {
    Elf64_Ehdr header;
    return copy_bytes(file, 0, &header, sizeof header) &&
           memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_shentsize == sizeof *section && index < header.e_shnum &&
           header.e_shoff <= file->size &&
           copy_bytes(file, header.e_shoff + index * sizeof *section, section, sizeof *section);
}

/* True if the name at an offset of the string table is `name`. */
static bool has_name(const struct file *file, const Elf64_Shdr *strings, uint32_t offset,
                     const char *name) {
    size_t length = strlen(name) + 1;
    return strings->sh_offset <= file->size && offset < strings->sh_size &&
           strings->sh_offset + offset <= file->size &&
           length <= file->size - strings->sh_offset - offset &&
           memcmp(file->bytes + strings->sh_offset + offset, name, length) == 0;
}

static bool find_symbol(const struct file *file, const char *name, Elf64_Sym *symbol) {
    Elf64_Shdr table;
    Elf64_Shdr strings;
    for (uint64_t s = 0; read_section(file, s, &table); s++) {
        if (table.sh_type != SHT_SYMTAB || table.sh_offset > file->size ||
            !read_section(file, table.sh_link, &strings))
            continue;
        for (uint64_t i = 0;
             i < table.sh_size / sizeof *symbol &&
             copy_bytes(file, table.sh_offset + i * sizeof *symbol, symbol, sizeof *symbol);
             i++)
            if (has_name(file, &strings, symbol->st_name, name))
                return true;
    }
    return false;
}

bool cubin_global_u64(const void *cubin, size_t size, const char *name, uint64_t *value) {
    const struct file file = {cubin, size};
    Elf64_Sym symbol;
    Elf64_Shdr section;
    return find_symbol(&file, name, &symbol) && symbol.st_size == sizeof *value &&
           read_section(&file, symbol.st_shndx, &section) && section.sh_type == SHT_PROGBITS &&
           symbol.st_value <= section.sh_size && section.sh_offset <= size &&
           copy_bytes(&file, section.sh_offset + symbol.st_value, value, sizeof *value);
}
