// The types of a module, each once. Internal to this library.
#pragma once

#include "air.hpp"

#include <span>

namespace dream::air
{

struct Type
{
    enum class Kind : std::uint8_t
    {
        simple,
        integer,
        pointer,
        vector,
        array,
        structure,
        function, // elements: result, then parameters
        named,
        opaque, // target("...")
    };
    Kind kind = Kind::simple;
    bool defined = true;  // false: a named type whose definition was not seen
    bool packed = false;  // of a structure
    bool variadic = false; // of a function
    bool flat = false;    // is or holds a pointer of address space 0
    bool pointers = false; // is or holds a pointer of any address space
    bool foreign = false; // is or holds a number that Metal has not: double, fp128, integers wider than 64 bits
    bool used = false;    // of a named type: its layout was asked for
    std::uint32_t address_space = 0;
    std::uint64_t count = 0; // elements of vectors and arrays, bits of integers
    std::uint64_t size = 0;  // bytes in memory, by AIR's data layout; saturated; 0: none
    std::uint64_t align = 1;
    std::string text; // in one spelling
    std::vector<TypeId> elements;
};

class TypeTable
{
public:
    TypeTable();

    [[nodiscard]] const Type& operator[](TypeId id) const { return types_[id]; }
    [[nodiscard]] TypeId simple(std::string_view name);
    [[nodiscard]] TypeId integer(std::uint64_t bits)
    {
        if (bits < 65 && integers_[bits] != 0)
            return integers_[bits];
        return make_integer(bits);
    }
    [[nodiscard]] TypeId pointer(std::uint32_t address_space)
    {
        if (address_space < 8 && pointers_[address_space] != 0)
            return pointers_[address_space];
        return make_pointer(address_space);
    }
    [[nodiscard]] TypeId sequence(Type::Kind kind, std::uint64_t count, bool scalable, TypeId element);
    [[nodiscard]] TypeId structure(std::span<const TypeId> elements, bool packed);
    [[nodiscard]] TypeId function(TypeId result, std::span<const TypeId> parameters, bool variadic);
    [[nodiscard]] TypeId named(std::string_view name);
    [[nodiscard]] TypeId opaque(std::string_view text);
    // False where the name has another definition. What holds the name is right again after settle().
    [[nodiscard]] bool define(TypeId named, TypeId body);
    // Lays out again what holds names that were defined since. False where a type holds itself.
    [[nodiscard]] bool settle();
    // Whether a named type was looked into before it was defined, so that what was said of it was wrong.
    [[nodiscard]] bool defined_late() const { return late_; }
    // Notes that the type is looked into.
    const Type& look(TypeId id)
    {
        Type& type = types_[id];
        if (!type.defined) [[unlikely]]
            type.used = true;
        return type;
    }

private:
    [[nodiscard]] TypeId make_integer(std::uint64_t bits);
    [[nodiscard]] TypeId make_pointer(std::uint32_t address_space);
    [[nodiscard]] TypeId composite(std::string key, Type type);
    [[nodiscard]] TypeId add(Type type);
    void lay_out(Type& type);

    struct Hash : std::hash<std::string_view>
    {
        using is_transparent = void;
    };
    using Known = std::unordered_map<std::string, TypeId, Hash, std::equal_to<>>;

    // The last vector or array type of each of a few remainders: bodies name the same ones over and over.
    struct Recent
    {
        std::uint64_t count = 0;
        TypeId element = 0;
        TypeId id = 0;
        Type::Kind kind = Type::Kind::simple;
    };

    std::vector<Type> types_;
    Known known_;
    Known names_;
    Recent recent_[16] = {};
    TypeId integers_[65] = {};
    TypeId pointers_[8] = {};
    bool late_ = false;
    bool dirty_ = false;
};

} // namespace dream::air
