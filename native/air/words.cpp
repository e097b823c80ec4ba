#include "words.hpp"

#include <array>
#include <cstring>

namespace dream::air
{

namespace
{

struct Entry
{
    std::string_view text;
    Word word = Word::unknown;
};

constexpr Entry entries[] = {
    {"void", Word::type_simple},
    {"half", Word::type_simple},
    {"bfloat", Word::type_simple},
    {"float", Word::type_simple},
    {"double", Word::type_simple},
    {"fp128", Word::type_simple},
    {"x86_fp80", Word::type_simple},
    {"ppc_fp128", Word::type_simple},
    {"label", Word::type_simple},
    {"metadata", Word::type_simple},
    {"token", Word::type_simple},
    {"x86_amx", Word::type_simple},
    {"ptr", Word::type_ptr},
    {"target", Word::type_target}, // also starts `target triple`, where no type can be
    {"add", Word::op_binary},
    {"sub", Word::op_binary},
    {"mul", Word::op_binary},
    {"udiv", Word::op_binary},
    {"sdiv", Word::op_binary},
    {"urem", Word::op_binary},
    {"srem", Word::op_binary},
    {"shl", Word::op_binary},
    {"lshr", Word::op_binary},
    {"ashr", Word::op_binary},
    {"and", Word::op_binary},
    {"or", Word::op_binary},
    {"xor", Word::op_binary},
    {"fadd", Word::op_binary},
    {"fsub", Word::op_binary},
    {"fmul", Word::op_binary},
    {"fdiv", Word::op_binary},
    {"frem", Word::op_binary},
    {"trunc", Word::op_cast},
    {"zext", Word::op_cast},
    {"sext", Word::op_cast},
    {"fptrunc", Word::op_cast},
    {"fpext", Word::op_cast},
    {"fptoui", Word::op_cast},
    {"fptosi", Word::op_cast},
    {"uitofp", Word::op_cast},
    {"sitofp", Word::op_cast},
    {"ptrtoint", Word::op_cast},
    {"ptrtoaddr", Word::op_cast},
    {"inttoptr", Word::op_cast},
    {"bitcast", Word::op_cast},
    {"addrspacecast", Word::op_addrspacecast},
    {"icmp", Word::op_icmp},
    {"fcmp", Word::op_fcmp},
    {"fneg", Word::op_fneg},
    {"freeze", Word::op_freeze},
    {"select", Word::op_select},
    {"phi", Word::op_phi},
    {"alloca", Word::op_alloca},
    {"load", Word::op_load},
    {"store", Word::op_store},
    {"getelementptr", Word::op_getelementptr},
    {"extractvalue", Word::op_extractvalue},
    {"insertvalue", Word::op_insertvalue},
    {"extractelement", Word::op_extractelement},
    {"insertelement", Word::op_insertelement},
    {"shufflevector", Word::op_shufflevector},
    {"call", Word::op_call},
    {"tail", Word::op_tail},
    {"musttail", Word::op_tail},
    {"notail", Word::op_tail},
    {"ret", Word::op_ret},
    {"br", Word::op_br},
    {"switch", Word::op_switch},
    {"unreachable", Word::op_unreachable},
    {"fence", Word::op_fence},
    {"cmpxchg", Word::op_cmpxchg},
    {"atomicrmw", Word::op_atomicrmw},
    {"invoke", Word::op_refused},
    {"callbr", Word::op_refused},
    {"indirectbr", Word::op_refused},
    {"va_arg", Word::op_refused},
    {"landingpad", Word::op_refused},
    {"resume", Word::op_refused},
    {"catchswitch", Word::op_refused},
    {"catchpad", Word::op_refused},
    {"catchret", Word::op_refused},
    {"cleanuppad", Word::op_refused},
    {"cleanupret", Word::op_refused},
    {"uselistorder", Word::op_refused},
    {"uselistorder_bb", Word::op_refused},
    {"fast", Word::flag},
    {"nnan", Word::flag},
    {"ninf", Word::flag},
    {"nsz", Word::flag},
    {"arcp", Word::flag},
    {"contract", Word::flag},
    {"afn", Word::flag},
    {"reassoc", Word::flag},
    {"nuw", Word::flag},
    {"nsw", Word::flag},
    {"exact", Word::flag},
    {"disjoint", Word::flag},
    {"nneg", Word::flag},
    {"samesign", Word::flag},
    {"inbounds", Word::flag},
    {"nusw", Word::flag},
    {"inalloca", Word::flag},
    {"swifterror", Word::flag},
    {"volatile", Word::flag},
    {"weak", Word::flag},
    {"atomic", Word::flag_atomic},
    {"true", Word::value_plain},
    {"false", Word::value_plain},
    {"none", Word::value_plain},
    {"undef", Word::value_plain},
    {"poison", Word::value_plain},
    {"zeroinitializer", Word::value_plain},
    {"null", Word::value_null},
    {"splat", Word::value_splat},
    {"asm", Word::value_refused},
    {"blockaddress", Word::value_refused},
    {"dso_local_equivalent", Word::value_refused},
    {"no_cfi", Word::value_refused},
    {"ptrauth", Word::value_refused},
    {"define", Word::top},
    {"declare", Word::top},
    {"attributes", Word::top},
    {"source_filename", Word::top},
    {"module", Word::top},
    {"section", Word::sized},
    {"partition", Word::sized},
    {"gc", Word::sized},
    {"prefix", Word::valued},
    {"prologue", Word::valued},
    {"personality", Word::valued},
    {"align", Word::numbered},
    {"cc", Word::numbered},
    {"alignstack", Word::numbered},
    {"comdat", Word::comdat},
};

// Up to eight of a word's bytes as a number: of words as long as eight bytes, all of them.
std::uint64_t key_of(std::string_view text)
{
    std::uint64_t bits = 0;
    if (text.size() >= 8)
        std::memcpy(&bits, text.data(), 8);
    else if (text.size() >= 4)
    {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        std::memcpy(&first, text.data(), 4);
        std::memcpy(&last, text.data() + text.size() - 4, 4);
        bits = first | std::uint64_t{last} << 32;
    }
    else
        for (const char c : text)
            bits = bits << 8 | static_cast<unsigned char>(c);
    return bits;
}

std::size_t slot_of(std::uint64_t key, std::size_t size)
{
    return static_cast<std::size_t>(((key ^ size) * 0x9e37'79b9'7f4a'7c15) >> 54);
}

struct Slot
{
    std::uint64_t key = 0;
    std::string_view text;
    Word word = Word::unknown;
};

struct Table
{
    std::array<Slot, 1024 + std::size(entries)> slots{};

    Table()
    {
        for (const Entry& entry : entries)
        {
            const std::uint64_t key = key_of(entry.text);
            std::size_t at = slot_of(key, entry.text.size());
            while (!slots[at].text.empty())
                ++at;
            slots[at] = {key, entry.text, entry.word};
        }
    }
};

} // namespace

Word word_of(std::string_view text)
{
    static const Table table;
    const std::uint64_t key = key_of(text);
    for (std::size_t at = slot_of(key, text.size()); !table.slots[at].text.empty(); ++at)
    {
        const Slot& slot = table.slots[at];
        if (slot.key == key && slot.text.size() == text.size() && (text.size() <= 8 || slot.text == text))
            return slot.word;
    }
    return Word::unknown;
}

} // namespace dream::air
