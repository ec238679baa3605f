// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "osu_options.hpp"
#include "arguments.hpp"
#include "carry.hpp"
#include "names.hpp"
#include "sizes.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench {

namespace {

using chorus::collective;

struct known_program {
    std::string_view name;
    std::string_view title;
    std::string_view non_blocking_title;
    collective what;
    bool by_counts;
    bool has_block_size;
};

constexpr known_program known_programs[] = {
    {"allgather", "Allgather", "Allgather", collective::all_gather, false, true},
    {"allgatherv", "Allgatherv", "Allgatherv", collective::all_gather, true, true},
    {"allreduce", "Allreduce", "Allreduce", collective::all_reduce, false, false},
    {"alltoall", "All-to-All Personalized Exchange", "All-to-All", collective::all_to_all, false, true},
    {"alltoallv", "All-to-Allv Personalized Exchange", "All-to-Allv", collective::all_to_all, true, true},
    {"barrier", "Barrier", "Barrier", collective::barrier, false, false},
    {"bcast", "Broadcast", "Broadcast", collective::broadcast, false, false},
    {"gather", "Gather", "Gather", collective::gather, false, true},
    {"gatherv", "Gatherv", "Gatherv", collective::gather, true, true},
    {"reduce", "Reduce", "Reduce", collective::reduce, false, false},
    {"reduce_scatter", "Reduce_scatter", "Reduce_scatter", collective::reduce_scatter, true, false},
    {"scatter", "Scatter", "Scatter", collective::scatter, false, true},
    {"scatterv", "Scatterv", "Scatterv", collective::scatter, true, true},
};

struct known_messages {
    std::string_view name;
    std::string_view title;
    message_pattern pattern;
};

constexpr known_messages known_message_programs[] = {
    {"osu_latency", "Latency", message_pattern::latency},
    {"osu_bw", "Bandwidth", message_pattern::bandwidth},
    {"osu_bibw", "Bi-Directional Bandwidth", message_pattern::bidirectional},
};

constexpr option_name names[] = {
    {'h', "help"}, {'v', "version"}, {'f', "full"}, {'m', "message-size", takes::value}, {'i', "iterations", takes::value},
    {'x', "warmup", takes::value}, {'M', "mem-limit", takes::value}, {'c', "validation", takes::perhaps_value},
    {'u', "validation-warmup", takes::value}, {'d', "accelerator", takes::value}, {'r', "cuda-target", takes::value},
    {'t', "num-test-calls", takes::value}, {'a', "array-size", takes::value}, {'k', "root-rank", takes::value},
    {'l', "in-place"}, {'T', "type", takes::value}, {'D', "ddt", takes::value}, {'N', "nhbr", takes::value},
    {'z', "tail-lat", takes::perhaps_value}, {'G', "graph", takes::value}, {'P', "papi", takes::value}, {'I', "session"},
    {'W', "window-size", takes::value}, {'b', "buffer-num", takes::value}, {'\0', "transport", takes::value},
    {'\0', "ranks", takes::value}, {'\0', "algorithm", takes::value}, {'\0', "op", takes::value},
    {'\0', "carry", takes::value},
    {'\0', "deadline", takes::value}, {'\0', "off-cache"}, {'\0', "at-least", takes::value},
    {'\0', "at-most", takes::value}, {'\0', "json", takes::value}, {'\0', "csv", takes::value},
    {'\0', "spoil", takes::value}};

/// "MIN:MAX", "MAX", "MIN:" or ":MAX".
void read_sizes(osu_options& asked, std::string const& text) {
    auto const colon = text.find(':');
    std::string const first = text.substr(0, colon);
    if (colon == std::string::npos) {
        asked.largest = parse_size(text);
    } else {
        if (!first.empty()) asked.smallest = parse_size(first);
        if (colon + 1 < text.size()) asked.largest = parse_size(text.substr(colon + 1));
        if (first.empty() && colon + 1 == text.size()) throw std::invalid_argument{"'" + text + "' is no range of sizes"};
    }
    if (asked.smallest > asked.largest)
        throw std::invalid_argument{"'" + text + "': the least size is above the greatest, " + std::to_string(asked.largest)};
}

std::string in_lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// OSU's three types and, beyond them, every element by its name.
void read_types(osu_options& asked, std::string const& text) {
    asked.types.clear();
    for (std::string const& each : split_names(text)) {
        std::string const name = in_lower_case(each);
        bool const all = name == "all";
        if (all || name == "mpi_char") asked.types.emplace_back("MPI_CHAR", "int8");
        if (all || name == "mpi_int") asked.types.emplace_back("MPI_INT", "int32");
        if (all || name == "mpi_float") asked.types.emplace_back("MPI_FLOAT", "float");
        if (all || name.starts_with("mpi_")) {
            if (!all && name != "mpi_char" && name != "mpi_int" && name != "mpi_float")
                throw std::invalid_argument{"no type '" + each + "': all, mpi_char, mpi_int, mpi_float, or an element such as double"};
            continue;
        }
        asked.types.emplace_back(name, std::string{element_named(name).name});
    }
}

void read_percentiles(osu_options& asked, std::string const& text) {
    asked.percentiles.clear();
    for (std::string each : split_names(text.empty() ? "50,90,99" : text)) {
        if (each.starts_with('P') || each.starts_with('p')) each.erase(0, 1);
        std::uint64_t const value = parse_number(each, "a percentile", 1, 100);
        asked.percentiles.push_back(static_cast<unsigned>(value));
    }
    if (asked.percentiles.size() > 5) throw std::invalid_argument{"more than five percentiles: " + text};
}

void read_root(osu_options& asked, std::string const& text) {
    if (text == "rotate") {
        asked.root.reset();
        return;
    }
    std::string const number = text.starts_with("fixed:") ? text.substr(6) : text;
    asked.root = static_cast<chorus::rank_id>(parse_number(number, "a root's rank", 0, 1u << 20));
}

void read_check(osu_options& asked, std::string const& text) {
    asked.check = true;
    if (text.empty()) return;
    if (!text.starts_with("log:") || text.size() == 4)
        throw std::invalid_argument{"'" + text + "': after -c only log:FOLDER is known"};
    asked.log_folder = text.substr(4);
}

[[noreturn]] void not_offered(option_name const& option, std::string_view why) {
    throw std::invalid_argument{"--" + std::string{option.text} + " is not offered: " + std::string{why}};
}

void read_long_option(osu_options& asked, std::string_view name, std::string const& value) {
    if (name == "transport") asked.where.transport = value;
    if (name == "ranks") asked.where.ranks = static_cast<chorus::rank_id>(parse_number(value, "ranks", 1, 4096));
    if (name == "algorithm") asked.algorithm = value;
    if (name == "op") asked.op = operation_named(value);
    if (name == "carry") asked.carry = value;
    if (name == "deadline") asked.where.seconds = parse_real(value, "seconds");
    if (name == "off-cache") asked.off_cache = true;
    if (name == "at-least") asked.limits.gigabytes_per_second = parse_real(value, "GB/s");
    if (name == "at-most") asked.limits.microseconds = parse_real(value, "microseconds");
    if (name == "json") asked.json = value;
    if (name == "csv") asked.csv = value;
    if (name == "spoil") asked.spoil = static_cast<chorus::rank_id>(parse_number(value, "a rank", 0, 4096));
}

void read_option(osu_options& asked, osu_program const& program, option_name const& option, std::string const& value) {
    constexpr std::uint64_t many = std::uint64_t{1} << 40;
    auto const number = [&](std::string_view what, std::uint64_t least) {
        return static_cast<std::size_t>(parse_number(value, what, least, many));
    };
    switch (option.letter) {
        case 'h': asked.wants_help = true; break;
        case 'v': asked.wants_version = true; break;
        case 'f': asked.is_full = true; break;
        case 'm': read_sizes(asked, value); break;
        case 'i': asked.iterations = number("iterations", 1); break;
        case 'x': asked.warm_up = number("warm-up calls", 0); break;
        case 'M': asked.memory = (std::max)(parse_size(value), std::uint64_t{1} << 20); break;
        case 'c':
            if (program.what == collective::barrier && !program.pattern) not_offered(option, "a barrier has no result");
            read_check(asked, value);
            break;
        case 'u': asked.rehearsals = static_cast<std::size_t>(parse_number(value, "rehearsals", 0, 10)); break;
        case 't': asked.advances = number("test calls", 0); break;
        case 'a': asked.array = number("elements", 1); break;
        case 'k': read_root(asked, value); break;
        case 'l':
            if (program.what == collective::all_to_all) not_offered(option, "all_to_all cannot be in place");
            asked.in_place = true;
            break;
        case 'T': read_types(asked, value); break;
        case 'z': read_percentiles(asked, value); break;
        case 'W': asked.window = number("messages in a window", 1); break;
        case 'b':
            if (value != "single" && value != "multiple") throw std::invalid_argument{"-b takes single or multiple"};
            asked.own_buffers = value == "multiple";
            break;
        case 'd':
        case 'r': not_offered(option, "buffers are in the memory of the host");
        case 'D': not_offered(option, "elements lie one after another");
        case 'N': not_offered(option, "there is no neighbourhood here");
        case 'G': not_offered(option, "see chorus-bench --plot");
        case 'P': not_offered(option, "hardware counters are not read");
        case 'I': not_offered(option, "there is no session of MPI");
        default: read_long_option(asked, option.text, value);
    }
}

/// Letters that the program knows, as OSU restricts them.
bool knows(osu_program const& program, char letter) {
    if (letter == '\0') return true;
    std::string letters = program.pattern ? "hvmixMcuTzdDI" : "hvfmixMcudGPTIlzaD";
    if (program.pattern && *program.pattern != message_pattern::latency) letters += "Wb";
    if (program.overlaps) letters += "tr";
    if (!program.pattern && chorus::has_root(program.what)) letters += 'k';
    return letters.find(letter) != std::string::npos;
}

}  // namespace

osu_program osu_program_named(std::string_view name) {
    for (known_messages const& each : known_message_programs)
        if (each.name == name) return {std::string{name}, std::string{each.title}, collective::barrier, each.pattern};
    for (known_program const& each : known_programs) {
        bool const overlaps = name == "osu_i" + std::string{each.name};
        if (!overlaps && name != "osu_" + std::string{each.name}) continue;
        std::string const title =
            overlaps ? "Non-blocking " + std::string{each.non_blocking_title} : std::string{each.title};
        return {std::string{name}, title + " Latency", each.what, std::nullopt, each.by_counts, overlaps, each.has_block_size};
    }
    throw std::invalid_argument{"no program '" + std::string{name} + "'"};
}

std::vector<std::string> osu_program_names() {
    std::vector<std::string> all;
    for (known_messages const& each : known_message_programs) all.emplace_back(each.name);
    for (std::string_view form : {"osu_", "osu_i"})
        for (known_program const& each : known_programs) all.push_back(std::string{form} + std::string{each.name});
    return all;
}

osu_options parse_osu_options(osu_program const& program, std::vector<std::string> const& arguments) {
    osu_options asked;
    if (program.pattern) asked.largest = std::uint64_t{4} << 20;
    if (program.pattern == message_pattern::latency) {
        asked.small_iterations = 10000;
        asked.large_iterations = 1000;
    } else if (program.pattern) {  // of windows
        asked.small_iterations = 100;
        asked.large_iterations = 20;
        asked.small_warm_up = 10;
        asked.large_warm_up = 2;
    }
    auto const take = [&](option_name const& option, std::string const& value) {
        if (!knows(program, option.letter)) throw std::invalid_argument{program.name + " has no option --" + std::string{option.text}};
        read_option(asked, program, option, value);
    };
    for (std::string const& each : parse_arguments(arguments, names, take))
        if (!program.pattern || each != "H") throw std::invalid_argument{"'" + each + "' is not understood: only H (host) is"};
    if (program.pattern && !asked.carry.empty()) throw std::invalid_argument{"--carry: collectives are carried by compressors, messages are not"};
    for (auto const& type : asked.types) carried_by(asked.carry, program.what, asked.op, type.second);
    return asked;
}

std::string osu_usage(osu_program const& program) {
    std::string text = "usage: " + program.name + " [options]\n";
    for (option_name const& each : names) {
        if (!knows(program, each.letter) || std::string_view{"dDIGPr"}.find(each.letter) != std::string_view::npos) continue;
        text += each.letter == '\0' ? "      " : std::string{"  -"} + each.letter + ", ";
        text += "--" + std::string{each.text} + (each.with == takes::nothing ? "" : each.with == takes::value ? " VALUE" : " [VALUE]") + '\n';
    }
    text += "Sizes may end in K, M or G; types may be any element. Options without a letter are not OSU's. Without a launcher,\n"
            "--ranks (2) processes are started, over shm or over --transport:";
    for (std::string_view name : transports()) text += ' ' + std::string{name};
    return text + '\n';
}

}  // namespace bench
