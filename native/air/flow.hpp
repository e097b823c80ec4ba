// Where a function's flat pointers come from. Internal to this library.
#pragma once

#include "air.hpp"

#include <optional>

namespace dream::air
{

// What a value may be, or hold: a set of these bits.
namespace origin
{
inline constexpr std::uint16_t local = 1;      // a variable of this thread
inline constexpr std::uint16_t specific = 2;   // a pointer of a specific address space, seen as flat
inline constexpr std::uint16_t foreign = 4;    // a flat pointer that memory of a specific address space held
inline constexpr std::uint16_t loaded = 8;     // came out of this thread's memory
inline constexpr std::uint16_t unknown = 16;   // a parameter, a call's result, an integer
} // namespace origin

// A graph of one function's values; nodes are numbered from 0. Flow-insensitive: memory holds all that is stored to it.
class Flow
{
public:
    using Node = std::uint32_t;

    void clear();
    [[nodiscard]] Node add(std::uint16_t origins);
    [[nodiscard]] Node add_variable();
    void say(Node node, std::uint16_t origins) { nodes_[node].origins |= origins; }
    // `to` may be whatever `from` may be.
    void copy(Node from, Node to) { link(nodes_[from].copies, to); }
    // `to` may be whatever memory at `from` holds.
    void load(Node from, Node to)
    {
        link(nodes_[from].loads, to);
        loads_ = true;
    }
    // Memory at `to` may hold what `from` is.
    void store(Node from, Node to) { link(nodes_[to].stores, from); }
    // Whether anything comes out of memory, so that settling can say more than the values do.
    [[nodiscard]] bool loads() const { return loads_; }
    // Spreads origins until nothing changes: each node changes at most once for each of its bits.
    void settle();
    [[nodiscard]] std::uint16_t origins(Node node) const { return nodes_[node].origins; }

private:
    static constexpr std::uint32_t none = UINT32_MAX;
    static constexpr std::uint32_t cells = 64; // the first nodes are memory: each stands for one of 64 variables

    struct State
    {
        std::uint64_t points_to = 0; // cells
        std::uint64_t linked = 0;    // cells that loads and stores through this node were linked to
        std::uint32_t copies = none; // lists of edges
        std::uint32_t loads = none;
        std::uint32_t stores = none;
        std::uint16_t origins = 0;
        bool waits = false;
    };
    struct Edge
    {
        Node other;
        std::uint32_t next;
    };
    void link(std::uint32_t& list, Node other)
    {
        edges_.push_back({other, list});
        list = static_cast<std::uint32_t>(edges_.size() - 1);
    }
    void merge(Node into, Node from);
    void wait(Node node);

    std::vector<State> nodes_;
    std::vector<Edge> edges_;
    std::vector<Node> waiting_;
    std::uint32_t variables_ = 0;
    bool loads_ = false;
};

} // namespace dream::air
