// One of two twins: dumps what the compiler answers about a program. Takes the recorder's command line; -o's file gets
// the dump. Code is part of it when the first entry has a file for its own.
//
// With --rounds in front: answers timed rounds in place of dumping (rounds.hpp).

#include "dump.hpp"
#include "names.hpp"
#include "recorder/record.hpp"
#include "rounds.hpp"

#include <cstdio>
#include <fstream>
#include <string_view>

int main(int count, char** arguments)
{
    using namespace dream;
    const bool rounds = count > 1 && std::string_view(arguments[1]) == "--rounds";
    if (rounds)
        ++arguments, --count;
    try
    {
        const recorder::Parsed parsed = recorder::parse_arguments({arguments + 1, arguments + count});
        const auto* request = std::get_if<recorder::Request>(&parsed);
        if (!request)
        {
            std::fputs("expected the recorder's command line\n", stderr);
            return 2;
        }
        const recorder::LinkedProgram program =
            recorder::compile(*request, [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
        // The names come from the layout, so that both twins ask for the same ones.
        const std::vector<std::string> names = tests::names_in(recorder::record(program, {}));
        if (rounds)
        {
            tests::answer_rounds(program.layout, names);
            return 0;
        }
        const bool with_code = !request->entries.empty() && !request->entries.front().code_path.empty();
        std::ofstream stream(request->layout_path, std::ios::binary);
        stream << "tag " << program.global->getBuildTagString() << '\n'
               << (with_code ? tests::dump(program.program.get(), names)
                             : tests::dump(program.layout, program.session.get(), names));
        return stream.flush() ? 0 : 1;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
