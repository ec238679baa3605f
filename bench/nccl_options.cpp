// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "nccl_options.hpp"
#include "arguments.hpp"
#include "carry.hpp"

#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace bench {

namespace {

using chorus::collective;

constexpr nccl_program programs[] = {
    {"all_gather_perf", collective::all_gather}, {"all_reduce_perf", collective::all_reduce},
    {"alltoall_perf", collective::all_to_all},   {"broadcast_perf", collective::broadcast},
    {"gather_perf", collective::gather},         {"reduce_perf", collective::reduce},
    {"reduce_scatter_perf", collective::reduce_scatter}, {"scatter_perf", collective::scatter},
    {"sendrecv_perf", collective::broadcast, true}};

constexpr option_name names[] = {
    {'t', "nthreads", takes::value}, {'g', "ngpus", takes::value}, {'b', "minbytes", takes::value},
    {'e', "maxbytes", takes::value}, {'i', "stepbytes", takes::value}, {'f', "stepfactor", takes::value},
    {'n', "iters", takes::value}, {'m', "agg_iters", takes::value}, {'w', "warmup_iters", takes::value},
    {'N', "run_cycles", takes::value}, {'o', "op", takes::value}, {'d', "datatype", takes::value},
    {'r', "root", takes::value}, {'c', "check", takes::value}, {'z', "blocking", takes::value},
    {'y', "stream_null", takes::value}, {'T', "timeout", takes::value}, {'G', "cudagraph", takes::value},
    {'C', "report_cputime", takes::value}, {'S', "report_timestamps", takes::value}, {'a', "average", takes::value},
    {'R', "local_register", takes::value}, {'x', "cta_policy", takes::value}, {'D', "device_implementation", takes::value},
    {'V', "device_cta_count", takes::value}, {'M', "memory", takes::value}, {'u', "unalign", takes::value},
    {'p', "parallel_init", takes::value}, {'I', "per_iter_timing", takes::value}, {'K', "per_iter_skip", takes::value},
    {'J', "output_file", takes::value}, {'h', "help"}, {'\0', "transport", takes::value}, {'\0', "ranks", takes::value},
    {'\0', "algorithm", takes::value}, {'\0', "carry", takes::value}, {'\0', "at-least", takes::value}, {'\0', "at-most", takes::value},
    {'\0', "spoil", takes::value}};

constexpr std::pair<std::string_view, operation> operations[] = {{"sum", operation::sum},
                                                                 {"prod", operation::product},
                                                                 {"min", operation::minimum},
                                                                 {"max", operation::maximum},
                                                                 {"avg", operation::mean}};

constexpr std::string_view types[] = {"int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16"};

void read_operations(nccl_options& asked, std::string const& text) {
    asked.operations.clear();
    for (auto const& [name, op] : operations)
        if (text == "all" || text == name) asked.operations.emplace_back(name, op);
    if (asked.operations.empty()) throw std::invalid_argument{"no operation '" + text + "': sum, prod, min, max, avg, all"};
}

void read_types(nccl_options& asked, std::string const& text) {
    asked.types.clear();
    for (std::string_view name : types)
        if (text == "all" || text == name) asked.types.emplace_back(name, name);
    if (!asked.types.empty()) return;
    std::string known;
    for (std::string_view name : types) known += std::string{name} + ", ";
    throw std::invalid_argument{"no type '" + text + "': " + known + "all"};
}

/// Options of a device: taken if they ask for nothing.
void expect_off(option_name const& option, std::string const& value) {
    if (value != "0" && !(option.letter == 'V' && value == "16"))
        throw std::invalid_argument{"-" + std::string{option.letter} + ' ' + value + ", --" + std::string{option.text} +
                                    ", is not offered: there is no device"};
}

void read_long_option(nccl_options& asked, std::string_view name, std::string const& value) {
    if (name == "transport") asked.where.transport = value;
    if (name == "ranks") asked.where.ranks = static_cast<chorus::rank_id>(parse_number(value, "ranks", 1, 4096));
    if (name == "algorithm") asked.algorithm = value;
    if (name == "carry") asked.carry = value;
    if (name == "at-least") asked.limits.gigabytes_per_second = parse_real(value, "GB/s");
    if (name == "at-most") asked.limits.microseconds = parse_real(value, "microseconds");
    if (name == "spoil") asked.spoil = static_cast<chorus::rank_id>(parse_number(value, "a rank", 0, 4096));
}

void read_option(nccl_options& asked, option_name const& option, std::string const& value) {
    auto const number = [&](std::string_view what, std::uint64_t least, std::uint64_t most = 1u << 30) {
        return static_cast<std::size_t>(parse_number(value, what, least, most));
    };
    switch (option.letter) {
        case 't': asked.threads = number("threads", 1, 4096); break;
        case 'g': asked.per_thread = number("ranks per thread", 1, 4096); break;
        case 'b': asked.smallest = parse_nccl_size(value); break;
        case 'e': asked.largest = parse_nccl_size(value); break;
        case 'i': asked.step = parse_nccl_size(value); break;
        case 'f': asked.factor = parse_real(value, "a factor"); break;
        case 'n': asked.iterations = number("iterations", 1); break;
        case 'm': asked.aggregated = number("operations", 1); break;
        case 'w': asked.warm_up = number("warm-up iterations", 0); break;
        case 'N': asked.cycles = number("cycles", 0); break;
        case 'o': read_operations(asked, value); break;
        case 'd': read_types(asked, value); break;
        case 'r':
            if (value == "all" || value == "-1") asked.root.reset();
            else asked.root = static_cast<chorus::rank_id>(number("a rank or all", 0));
            break;
        case 'c': asked.check_calls = number("check iterations", 0); break;
        case 'z': asked.blocking = static_cast<unsigned>(number("a way of blocking", 0, 3)); break;
        case 'T': asked.where.seconds = static_cast<double>(number("seconds", 0)); break;
        case 'S': asked.stamps = number("0 or 1", 0, 1) != 0; break;
        case 'a': asked.average = static_cast<unsigned>(number("a way of averaging", 0, 3)); break;
        case 'u': asked.unaligned = number("elements", 0, 1u << 20); break;
        case 'p': asked.parallel_init = number("0 or 1", 0, 1) != 0; break;
        case 'I': asked.per_iteration = number("0 or 1", 0, 1) != 0; break;
        case 'K': asked.skipped = number("iterations", 0); break;
        case 'J':
            if (!value.ends_with(".json")) throw std::invalid_argument{"-J '" + value + "': a name that ends in .json is expected"};
            asked.json = value;
            break;
        case 'h': asked.wants_help = true; break;
        case '\0': read_long_option(asked, option.text, value); break;
        default: expect_off(option, value);
    }
}

void read_environment(nccl_options& asked) {
    for (char const* name : {"NCCL_TESTS_SPLIT", "NCCL_TESTS_SPLIT_MASK", "NCCL_TESTS_DEVICE"})
        if (std::getenv(name) != nullptr) throw std::invalid_argument{std::string{name} + " is set, and not offered"};
    if (char const* const least = std::getenv("NCCL_TESTS_MIN_BW"); least != nullptr)
        asked.least_bus = parse_real(least, "GB/s in NCCL_TESTS_MIN_BW");
}

}  // namespace

nccl_program nccl_program_named(std::string_view name) {
    for (nccl_program const& each : programs)
        if (each.name == name) return each;
    throw std::invalid_argument{"no program '" + std::string{name} + "'"};
}

void expect_carried(nccl_program const& program, nccl_options const& asked) {
    if (program.is_shift && !asked.carry.empty())
        throw std::invalid_argument{"--carry: collectives are carried by compressors, messages are not"};
    for (auto const& type : asked.types)
        for (auto const& op : asked.operations) carried_by(asked.carry, program.what, op.second, type.second);
}

std::uint64_t parse_nccl_size(std::string const& text) {
    std::string digits = text;
    double unit = 1;
    for (auto const& [letters, value] : {std::pair{"kK", 1024.0}, {"mM", 1048576.0}, {"gG", 1073741824.0}})
        if (!text.empty() && (text.back() == letters[0] || text.back() == letters[1])) unit = value;
    if (unit > 1) digits.pop_back();
    double const bytes = parse_real(digits, "bytes, with at most one of K, M, G") * unit;
    if (bytes > 0x1p62) throw std::invalid_argument{"'" + text + "': too large"};
    return static_cast<std::uint64_t>(bytes);
}

std::vector<std::uint64_t> nccl_sizes(nccl_options const& asked) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t size = asked.smallest; size <= asked.largest;) {
        sizes.push_back(size);
        if (asked.factor <= 1) size += asked.step;
        else size = (std::max)(size + 1, static_cast<std::uint64_t>(static_cast<double>(size) * asked.factor));
        if (sizes.size() > 100'000) throw std::invalid_argument{"more than 100000 sizes"};
    }
    return sizes;
}

nccl_options parse_nccl_options(std::vector<std::string> const& arguments) {
    nccl_options asked;
    bool has_largest = false;
    auto const others = parse_arguments(arguments, names, [&](option_name const& option, std::string const& value) {
        has_largest = has_largest || option.letter == 'e';
        read_option(asked, option, value);
    });
    if (!others.empty()) throw std::invalid_argument{"'" + others.front() + "' is no option"};
    if (!has_largest && asked.smallest > asked.largest) asked.largest = asked.smallest;
    if (asked.smallest > asked.largest) throw std::invalid_argument{"-b is above -e"};
    if (asked.factor <= 1 && asked.step == 0 && asked.smallest < asked.largest)
        throw std::invalid_argument{"-i 0 leads nowhere"};
    if (asked.per_iteration && asked.skipped >= asked.iterations)
        throw std::invalid_argument{"-K skips all of the iterations"};
    read_environment(asked);
    return asked;
}

std::string nccl_usage(std::string_view program) {
    std::string text = "usage: " + std::string{program} + " [options]\n";
    for (option_name const& each : names) {
        if (std::string_view{"yGCRxDVM"}.find(each.letter) != std::string_view::npos && each.letter != '\0') continue;
        text += each.letter == '\0' ? "      " : std::string{"  -"} + each.letter + ", ";
        text += "--" + std::string{each.text} + (each.with == takes::nothing ? "\n" : " VALUE\n");
    }
    text += "Options without a letter are not those of nccl-tests. A rank is a thread, -t times -g of them; under a launcher\n"
            "one of its processes; with --ranks N as many as that over --transport:";
    for (std::string_view name : transports()) text += ' ' + std::string{name};
    return text + '\n';
}

}  // namespace bench
