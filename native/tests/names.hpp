// Names to look up in every struct and among the types: all that a layout has, with every qualification, and some that
// are not there.
#pragma once

#include "layout/blob.hpp"

#include <set>
#include <string>
#include <vector>

namespace dream::tests
{

inline std::vector<std::string> names_in(const layout::Blob& blob)
{
    std::set<std::string> names{"", "nothing", "::", ".", "a.b", "nothing::nothing"};
    for (const layout::Variable& variable : blob.variables)
    {
        if (variable.name)
        {
            const std::string& name = blob.strings[variable.name - 1];
            names.insert({name, "::" + name, "." + name, name + ".", name + "::", ":" + name});
        }
        if (!variable.qualified_name)
            continue;
        std::string qualified = blob.strings[variable.qualified_name - 1];
        names.insert("wrong::" + qualified);
        while (true)
        {
            names.insert(qualified);
            std::string dotted = qualified;
            for (std::size_t colon = dotted.find("::"); colon != std::string::npos; colon = dotted.find("::"))
                dotted.replace(colon, 2, ".");
            names.insert(dotted);
            const std::size_t at = qualified.find("::");
            if (at == std::string::npos)
                break;
            qualified.erase(0, at + 2);
        }
    }
    for (const layout::TypeName& name : blob.type_names)
        names.insert(blob.strings[name.name - 1]);
    return {names.begin(), names.end()};
}

} // namespace dream::tests
