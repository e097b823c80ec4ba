#include "flow.hpp"

#include <bit>

namespace dream::air
{

void Flow::clear()
{
    nodes_.assign(cells, {});
    edges_.clear();
    variables_ = 0;
    loads_ = false;
}

Flow::Node Flow::add(std::uint16_t origins)
{
    nodes_.push_back({.origins = origins});
    return static_cast<Node>(nodes_.size() - 1);
}

Flow::Node Flow::add_variable()
{
    nodes_.push_back({.points_to = std::uint64_t{1} << (variables_++ % cells), .origins = origin::local});
    return static_cast<Node>(nodes_.size() - 1);
}

void Flow::wait(Node node)
{
    if (nodes_[node].waits)
        return;
    nodes_[node].waits = true;
    waiting_.push_back(node);
}

void Flow::merge(Node into, Node from)
{
    State& state = nodes_[into];
    const std::uint16_t origins = state.origins | nodes_[from].origins;
    const std::uint64_t points_to = state.points_to | nodes_[from].points_to;
    if (origins == state.origins && points_to == state.points_to)
        return;
    state.origins = origins;
    state.points_to = points_to;
    wait(into);
}

void Flow::settle()
{
    for (Node node = 0; node < nodes_.size(); ++node)
        wait(node);
    while (!waiting_.empty())
    {
        const Node node = waiting_.back();
        waiting_.pop_back();
        nodes_[node].waits = false;
        for (std::uint32_t edge = nodes_[node].copies; edge != none; edge = edges_[edge].next)
            merge(edges_[edge].other, node);
        std::uint64_t fresh = nodes_[node].points_to & ~nodes_[node].linked;
        nodes_[node].linked |= fresh;
        for (; fresh != 0; fresh &= fresh - 1)
        {
            const auto cell = static_cast<Node>(std::countr_zero(fresh));
            for (std::uint32_t edge = nodes_[node].stores; edge != none; edge = edges_[edge].next)
            {
                const Node stored = edges_[edge].other;
                copy(stored, cell);
                merge(cell, stored);
            }
            for (std::uint32_t edge = nodes_[node].loads; edge != none; edge = edges_[edge].next)
            {
                const Node loaded = edges_[edge].other;
                copy(cell, loaded);
                say(loaded, origin::loaded);
                merge(loaded, cell);
                wait(loaded);
            }
        }
    }
}

} // namespace dream::air
