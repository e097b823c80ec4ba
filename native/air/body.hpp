// The body of a function. Internal to this library.
#pragma once

#include "flow.hpp"
#include "grammar.hpp"

namespace dream::air
{

class Body
{
public:
    explicit Body(Grammar& grammar)
        : grammar_(grammar)
        , text_(grammar.text_)
        , types_(grammar.types_)
    {
    }

    // Reads from the opening bracket to the closing one. `parameters` are the names and types of what was handed in.
    void read(Function& function, const std::vector<std::pair<std::string_view, TypeId>>& parameters);

private:
    void instruction(std::string_view op, std::string_view result);
    void label();
    void call(std::string_view result);
    // `accessed` is whether the callee reads and writes through its pointers, as llvm.memcpy does.
    void arguments(std::vector<TypeId>& out, bool accessed);
    void count(std::string_view callee, TypeId type, std::uint32_t offset);
    void load(std::string_view result);
    void store();
    void written(const Typed& pointer);
    void cast(Word word, std::string_view result);
    // A ptrtoint, an inttoptr, or another cast of something that holds no flat pointer.
    void through_integer(const Typed& from, TypeId to, std::string_view result);
    void switch_();
    void phi(std::string_view result);
    void alloca_(std::string_view result);
    void atomic_end();
    // Alignment and metadata after the last operand.
    void end()
    {
        if (text_.peek() == ',')
            properties();
    }
    void properties();
    void skip_flags();
    [[nodiscard]] Typed operand();
    void comma() { text_.expect(','); }

    // Nodes of the values whose origin is of interest.
    [[nodiscard]] bool interesting(TypeId type) { return types_.look(type).flat; }
    [[nodiscard]] Flow::Node node(std::string_view local);
    [[nodiscard]] Flow::Node& noted(std::string_view local);
    // The node of an operand, made where there is none yet.
    [[nodiscard]] Flow::Node node(const Typed& typed);
    // The result may be what `from` is.
    void pass(const Typed& from, std::string_view result, TypeId type);
    // The result is what `from` is, and nothing else.
    void same(const Typed& from, std::string_view result, TypeId type);
    void access(const Typed& pointer);
    void fact(FactKind kind, std::string first = {}, std::string second = {}, std::uint64_t size = 0);
    void foreign(TypeId type);
    void finish();

    struct Access
    {
        Flow::Node node;
        std::uint32_t offset;
    };
    struct Wide
    {
        std::size_t fact;
        std::uint64_t users = 0;
    };

    Grammar& grammar_;
    Text& text_;
    TypeTable& types_;
    Function* function_ = nullptr;
    Flow flow_;
    std::vector<Flow::Node> numbered_;
    std::unordered_map<std::string_view, Flow::Node> named_;
    std::unordered_map<std::string_view, Wide> wide_;
    std::unordered_map<std::string_view, std::vector<std::uint32_t>> calls_; // callee: indices of its calls
    std::unordered_map<std::string_view, TypeId> integers_; // that a ptrtoint made, and of which pointer
    std::vector<Access> accesses_;
    std::vector<TypeId> operands_;
    std::uint32_t start_ = 0; // where the instruction begins
    bool entry_ = true;
    bool saw_foreign_ = false;
};

// Aggregates that a load must exceed to be told of, in bytes: what rules draw the line at is above it.
inline constexpr std::uint64_t wide_load_bytes = 64;

inline constexpr std::uint32_t constant_space = 2;

} // namespace dream::air
