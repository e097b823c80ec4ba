#include "arguments.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace dream::recorder
{

namespace
{

// The compiler's options that take values in arguments of their own, with how many (`slangc -h`, 2026.12). Whatever
// is not here and begins with a dash stands alone. A wrong count here turns a value into a module that does not
// exist, or a module into a value that the compiler's parser refuses: an error either way.
struct ValuedOption
{
    std::string_view name;
    std::size_t values;
};

constexpr auto valued_options = std::to_array<ValuedOption>({
    {"-D", 1},
    {"-I", 1},
    {"-bindless-space-index", 1},
    {"-capability", 1},
    {"-conformance", 1},
    {"-default-downstream-compiler", 2},
    {"-denorm-mode-fp16", 1},
    {"-denorm-mode-fp32", 1},
    {"-denorm-mode-fp64", 1},
    {"-diagnostic-color", 1},
    {"-floating-point-mode", 1},
    {"-fp-mode", 1},
    {"-fvk-bind-globals", 2},
    {"-fvk-b-shift", 2},
    {"-fvk-s-shift", 2},
    {"-fvk-t-shift", 2},
    {"-fvk-u-shift", 2},
    {"-line-directive-mode", 1},
    {"-llvm-cpu", 1},
    {"-llvm-features", 1},
    {"-llvm-target-triple", 1},
    {"-profile", 1},
    {"-spirv-core-grammar", 1},
    {"-spirv-resource-heap-stride", 1},
    {"-spirv-sampler-heap-stride", 1},
    {"-std", 1},
    {"-warnings-as-errors", 1},
    {"-warnings-disable", 1},
});

struct RefusedOption
{
    std::string_view name;
    std::string_view reason;
};

constexpr auto refused_options = std::to_array<RefusedOption>({
    {"-fvk-use-entrypoint-name", "hosts look SPIR-V entry points up by the name main"},
    {"-whole-program", "one module a program has one layout, and hosts load one module an entry"},
    {"-specialize", "a layout is recorded for programs that need no arguments"},
    {"-no-codegen", "code is only made where an -o asks for it"},
    {"-skip-codegen", "code is only made where an -o asks for it"},
    {"-emit-ir", "the recorder writes layouts and code, no modules"},
    {"-pass-through", "there is no layout where another compiler does all the work"},
    {"-E", "the recorder writes layouts and code, no preprocessed source"},
    {"-output-preprocessor", "the recorder writes layouts and code, no preprocessed source"},
    {"-separate-debug-info", "one file an entry is written"},
    {"-r", "name the module's source instead"},
    {"-lang", "name a .slang file"},
    {"-module-name", "a module is named after its file"},
});

bool ends_with_path_or_version(std::string_view option)
{
    return option.ends_with("-path") || option.ends_with("-version");
}

class Parser
{
public:
    explicit Parser(const std::vector<std::string>& arguments)
        : arguments_(arguments)
    {
    }

    Parsed run()
    {
        if (has("-help") || has("-h") || has("--help"))
            return ShowHelp{};
        if (has("-version") || has("-v") || has("--version"))
            return ShowVersion{has("--json")};
        while (at_ < arguments_.size() && error_.empty())
            step(arguments_[at_++]);
        finish();
        if (!error_.empty())
            return UsageError{error_};
        return std::move(request_);
    }

private:
    [[nodiscard]] bool has(std::string_view option) const
    {
        return std::ranges::find(arguments_, option) != arguments_.end();
    }

    void fail(std::string message)
    {
        if (error_.empty())
            error_ = std::move(message);
    }

    std::string value_of(const std::string& option)
    {
        if (at_ == arguments_.size())
        {
            fail(option + ": expected a value behind it");
            return {};
        }
        return arguments_[at_++];
    }

    void step(const std::string& argument)
    {
        if (only_modules_ || argument.empty() || argument.front() != '-' || argument == "-")
            module(argument);
        else if (argument == "--")
            only_modules_ = true;
        else if (argument == "-entry")
            entry(value_of(argument));
        else if (argument == "-stage")
            stage(value_of(argument));
        else if (argument == "-o")
            output(value_of(argument));
        else if (argument == "-target")
            target(value_of(argument));
        else if (argument == "-reflection-json")
            (void)value_of(argument); // slangc's other description of the layout; callers of slangc may pass it
        else if (argument == "-depfile" || argument == "-lookups")
            other_output(argument, value_of(argument));
        else
            compiler_option(argument);
    }

    void module(const std::string& path)
    {
        if (path.empty() || path == "-")
            fail("expected a module's file, got '" + path + "'");
        request_.modules.push_back(path);
    }

    void entry(std::string name)
    {
        if (name.empty())
            fail("-entry: expected a function's name");
        // In a layout, and so for hosts, an entry has its function's name without namespaces.
        const std::size_t separator = name.find_last_of(".:");
        if (!names_.insert(separator == std::string::npos ? name : name.substr(separator + 1)).second)
            fail("-entry " + name + ": named twice; one program has one entry of a name");
        EntryRequest entry;
        entry.name = std::move(name);
        if (!request_.modules.empty())
            entry.module = request_.modules.size() - 1;
        request_.entries.push_back(std::move(entry));
        outputs_before_entry_ = outputs_.size();
    }

    void stage(std::string name)
    {
        if (request_.entries.empty())
            return fail("-stage " + name + ": expected behind an -entry");
        std::string& stage = request_.entries.back().stage;
        if (!stage.empty() && stage != name)
            fail("-entry " + request_.entries.back().name + ": has two stages, " + stage + " and " + name);
        stage = std::move(name);
    }

    void output(std::string path)
    {
        if (path.empty())
            fail("-o: expected a file");
        Output output{std::move(path), {}};
        // Only the first -o behind an entry can be that entry's.
        if (!request_.entries.empty() && outputs_.size() == outputs_before_entry_)
            output.entry = request_.entries.size() - 1;
        outputs_.push_back(std::move(output));
    }

    void other_output(const std::string& option, std::string path)
    {
        if (path.empty())
            fail(option + ": expected a file");
        (option == "-depfile" ? request_.depfile_path : request_.lookups_path) = std::move(path);
    }

    void target(std::string name)
    {
        if (!request_.target.empty() && request_.target != name)
            fail("-target: got " + request_.target + " and " + name + "; a layout is of one target");
        request_.target = std::move(name);
    }

    void compiler_option(const std::string& option)
    {
        const auto refused = std::ranges::find(refused_options, option, &RefusedOption::name);
        if (refused != refused_options.end())
            return fail(option + ": not possible here: " + std::string(refused->reason));
        if (option.starts_with("-fvk-use-") && option.ends_with("-layout") && option != "-fvk-use-scalar-layout")
            request_.force_scalar_layout = false;
        if (option == "-line-directive-mode")
            request_.line_directives = true;

        auto& options = request_.compiler_options;
        options.push_back(option);
        if (option.starts_with("-X"))
            return downstream_option(option);
        std::size_t values = 0;
        const auto valued = std::ranges::find(valued_options, option, &ValuedOption::name);
        if (valued != valued_options.end())
            values = valued->values;
        else if (ends_with_path_or_version(option))
            values = 1;
        for (; values > 0; --values)
            options.push_back(value_of(option));
        if (option == "-I" && options.back().empty())
            fail("-I: expected a folder, got ''");
    }

    // `-Xdxc OPTION`, or `-Xdxc... OPTION OPTION -X.`
    void downstream_option(const std::string& option)
    {
        auto& options = request_.compiler_options;
        options.push_back(value_of(option));
        if (option.ends_with("..."))
            while (error_.empty() && options.back() != "-X.")
                options.push_back(value_of(option));
    }

    void finish()
    {
        if (request_.modules.empty())
            fail("expected a module's file");
        if (request_.target.empty())
            fail("-target: expected one, e.g. -target spirv");
        if (request_.entries.empty())
            fail("-entry: expected at least one");
        if (outputs_.empty())
            fail("-o: expected the layout's file");
        if (!error_.empty())
            return;
        std::set<std::string> paths;
        const auto is_new = [&](const std::string& path)
        { return path.empty() || path == into_answer || paths.insert(path).second; };
        for (std::size_t i = 0; i < outputs_.size(); ++i)
        {
            const Output& output = outputs_[i];
            if (!is_new(output.path))
                return fail("-o " + output.path + ": named twice");
            if (i + 1 == outputs_.size())
                request_.layout_path = output.path;
            else if (output.entry)
                request_.entries[*output.entry].code_path = output.path;
            else
                return fail(
                    "-o " + output.path + ": an -o before the last one writes an entry's code and stands behind that "
                    "entry, one each");
        }
        if (!is_new(request_.depfile_path))
            return fail("-depfile " + request_.depfile_path + ": is an -o too");
        if (!is_new(request_.lookups_path))
            return fail("-lookups " + request_.lookups_path + ": is another output too");
        request_.compiler_options.insert(request_.compiler_options.begin(), {"-target", request_.target});
    }

    struct Output
    {
        std::string path;
        std::optional<std::size_t> entry;
    };

    const std::vector<std::string>& arguments_;
    std::size_t at_ = 0;
    bool only_modules_ = false;
    std::string error_;
    Request request_;
    std::set<std::string> names_;
    std::vector<Output> outputs_;
    std::size_t outputs_before_entry_ = 0;
};

} // namespace

Parsed parse_arguments(const std::vector<std::string>& arguments)
{
    return Parser(arguments).run();
}

} // namespace dream::recorder
