// Dumps every reflection answer of a program twice, through the compiler and through the blob that the recorder made
// of it (written to bytes and read back), and compares the dumps byte for byte.
//
// Takes the recorder's command line; -o's file gets the compiler's dump. Exit code 0 when both dumps are equal.

#include "twin_live.hpp"
#include "twin_recorded.hpp"

#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace
{

using namespace dream;
using twin::Live;
using twin::Recorded;

constexpr std::uint32_t category_count = SLANG_PARAMETER_CATEGORY_COUNT;

// Walks depth first, so that nodes are numbered in another order than the recorder's, and asks everything.
template <class Api>
class Dumper
{
public:
    Dumper(Api& api, std::vector<std::string> names)
        : api_(api)
        , names_(std::move(names))
    {
    }

    std::string run()
    {
        out_ << "tag " << api_.tag() << '\n'
             << "globals " << type_layout(api_.globals_type()) << ' ' << var_layout(api_.globals_var()) << ' '
             << api_.globals_binding() << ' ' << api_.globals_size() << " bindless " << api_.bindless_space()
             << " specialization " << api_.specialization_count() << '\n';
        for (unsigned i = 0; i < api_.parameter_count(); ++i)
            out_ << "parameter " << i << ' ' << var_layout(api_.parameter(i)) << '\n';
        for (unsigned i = 0; i < api_.entry_count(); ++i)
            entry(i);
        for (unsigned i = 0; i < api_.string_count(); ++i)
            out_ << "string " << api_.hashed_string(i) << '\n';
        for (const std::string& name : names_)
            out_ << "find type " << name << ": " << type(api_.find_type(name)) << '\n';
        return out_.str();
    }

private:
    void entry(unsigned i)
    {
        const auto e = api_.entry(i);
        out_ << "entry " << api_.name(e) << " stage " << api_.stage(e) << " flags " << api_.flags(e) << " group "
             << api_.thread_groups(e) << ' ' << var_layout(api_.var_layout(e)) << " result "
             << var_layout(api_.result(e)) << ' ' << api_.attributes(e) << '\n';
        for (unsigned p = 0; p < api_.parameter_count(e); ++p)
            out_ << "entry " << i << " parameter " << p << ' ' << var_layout(api_.parameter(e, p)) << '\n';
    }

    // Numbers a node and answers its name in the dump; `describe` prints it when it is met first.
    template <class Node, class F>
    std::string once(std::map<Node, std::size_t>& numbers, char letter, Node node, F&& describe)
    {
        if (!node)
            return "null";
        const auto [at, is_new] = numbers.try_emplace(node, numbers.size());
        std::string name = letter + std::to_string(at->second);
        if (is_new)
        {
            std::ostringstream lines;
            describe(lines, name);
            out_ << lines.str();
        }
        return name;
    }

    std::string type(typename Api::Type t)
    {
        return once(
            types_,
            'T',
            t,
            [&](std::ostream& out, const std::string& name)
            {
                out << name << ' ' << api_.kind(t) << ' ' << api_.names(t) << ' ' << api_.numbers(t) << " element "
                    << type(api_.element(t)) << " result " << type(api_.resource_result(t)) << " layout "
                    << type_layout(api_.default_layout(t)) << ' ' << api_.attributes(t) << '\n';
                for (unsigned i = 0; i < api_.field_count(t); ++i)
                    out << name << " field " << i << ' ' << variable(api_.field(t, i)) << '\n';
            });
    }

    std::string variable(typename Api::Variable v)
    {
        return once(
            variables_,
            'V',
            v,
            [&](std::ostream& out, const std::string& name)
            {
                out << name << ' ' << api_.name(v) << ' ' << type(api_.type(v)) << ' ' << api_.modifiers(v) << ' '
                    << api_.attributes(v) << '\n';
            });
    }

    std::string type_layout(typename Api::TypeLayout t)
    {
        return once(
            type_layouts_,
            'L',
            t,
            [&](std::ostream& out, const std::string& name)
            {
                out << name << ' ' << api_.numbers(t) << ' ' << type(api_.type(t)) << " element "
                    << type_layout(api_.element_type(t)) << ' ' << var_layout(api_.element_var(t)) << " container "
                    << var_layout(api_.container_var(t)) << " counter " << var_layout(api_.counter(t)) << '\n';
                for (std::uint32_t c = 0; c < category_count; ++c)
                    out << name << " category " << c << ": " << api_.in_category(t, c) << '\n';
                for (unsigned i = 0; i < api_.category_count_of(t); ++i)
                    out << name << " takes " << api_.category_at(t, i) << '\n';
                for (unsigned i = 0; i < api_.field_count(t); ++i)
                    out << name << " field " << i << ' ' << var_layout(api_.field(t, i)) << ' '
                        << api_.field_range(t, i) << '\n';
                for (std::int64_t i = 0; i < api_.range_count(t); ++i)
                    out << name << " range " << i << ": " << api_.range(t, i) << ' '
                        << type_layout(api_.range_leaf(t, i)) << ' ' << variable(api_.range_variable(t, i)) << '\n';
                for (std::int64_t i = 0; i < api_.set_count(t); ++i)
                    out << name << " set " << i << ": " << api_.set(t, i) << '\n';
                for (std::int64_t i = 0; i < api_.sub_object_count(t); ++i)
                    out << name << " sub-object " << i << ": " << api_.sub_object(t, i) << ' '
                        << var_layout(api_.sub_object_offset(t, i)) << '\n';
                for (const std::string& field : names_)
                    out << name << " find " << field << ": " << api_.find_field(t, field) << '\n';
            });
    }

    std::string var_layout(typename Api::VarLayout v)
    {
        return once(
            var_layouts_,
            'W',
            v,
            [&](std::ostream& out, const std::string& name)
            {
                out << name << ' ' << api_.numbers(v) << ' ' << variable(api_.variable(v)) << ' '
                    << type_layout(api_.type_layout(v)) << '\n';
                for (std::uint32_t c = 0; c < category_count; ++c)
                    out << name << " category " << c << ": " << api_.in_category(v, c) << '\n';
            });
    }

    Api& api_;
    std::vector<std::string> names_;
    std::ostringstream out_;
    std::map<typename Api::Type, std::size_t> types_;
    std::map<typename Api::Variable, std::size_t> variables_;
    std::map<typename Api::TypeLayout, std::size_t> type_layouts_;
    std::map<typename Api::VarLayout, std::size_t> var_layouts_;
};

// Names to look up in every struct and among the types: all that there are, with every qualification, and some that
// are not there.
std::vector<std::string> names_in(const layout::Blob& blob)
{
    std::set<std::string> names{"", "nothing", "::", ".", "a.b", "nothing::nothing"};
    for (const layout::Variable& variable : blob.variables)
    {
        if (variable.name)
            names.emplace(layout::text_of(blob, variable.name));
        if (!variable.qualified_name)
            continue;
        std::string qualified(layout::text_of(blob, variable.qualified_name));
        names.insert("wrong::" + qualified);
        for (std::size_t at = 0; at != std::string::npos; at = qualified.find("::"))
        {
            qualified.erase(0, at == 0 ? 0 : at + 2);
            names.insert(qualified);
            std::string dotted = qualified;
            for (std::size_t colon = dotted.find("::"); colon != std::string::npos; colon = dotted.find("::"))
                dotted.replace(colon, 2, ".");
            names.insert(dotted);
            if (qualified.find("::") == std::string::npos)
                break;
        }
    }
    for (const layout::TypeName& name : blob.type_names)
        names.emplace(layout::text_of(blob, name.name));
    return {names.begin(), names.end()};
}

int compare(const recorder::Request& request)
{
    const recorder::LinkedProgram program =
        recorder::compile(request, [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
    const std::vector<std::byte> bytes = layout::write(recorder::record(program, {}));
    const layout::ReadResult result = layout::read(bytes);
    if (const auto* error = std::get_if<layout::Error>(&result))
    {
        std::fprintf(stderr, "the recorder's own bytes are refused: %s\n", error->message.c_str());
        return 1;
    }
    const auto& blob = std::get<layout::Blob>(result);
    const std::vector<std::string> names = names_in(blob);

    Live live{program, program.layout, twin::counters_of(program)};
    Recorded recorded{blob, blob.program};
    const std::string of_compiler = Dumper<Live>(live, names).run();
    const std::string of_blob = Dumper<Recorded>(recorded, names).run();
    std::ofstream(request.layout_path, std::ios::binary) << of_compiler;
    if (of_compiler == of_blob)
    {
        std::printf("%zu bytes of answers are equal\n", of_compiler.size());
        return 0;
    }
    std::istringstream left(of_compiler);
    std::istringstream right(of_blob);
    std::string a;
    std::string b;
    for (std::size_t line = 1; std::getline(left, a) || std::getline(right, b); ++line, a.clear(), b.clear())
    {
        if (b.empty())
            std::getline(right, b);
        if (a != b)
        {
            std::fprintf(stderr, "line %zu\n  compiler: %s\n  blob:     %s\n", line, a.c_str(), b.c_str());
            break;
        }
    }
    return 1;
}

} // namespace

int main(int count, char** arguments)
{
    try
    {
        const recorder::Parsed parsed = recorder::parse_arguments({arguments + 1, arguments + count});
        if (const auto* request = std::get_if<recorder::Request>(&parsed))
            return compare(*request);
        std::fprintf(stderr, "expected the recorder's command line\n");
        return 2;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
