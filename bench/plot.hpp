// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "sizes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// A line of a plot: points (bytes, value), both above zero to be drawn.
struct curve {
    std::string name;
    std::vector<std::pair<double, double>> points;
};

namespace detail {

/// Text as XML shows it.
inline std::string escaped(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == '&') out += "&amp;";
        else if (c == '<') out += "&lt;";
        else if (c == '>') out += "&gt;";
        else out += c;
    }
    return out;
}

/// As printf writes it.
inline std::string number(char const* format, double value) {
    char text[32] = "";
    std::snprintf(text, sizeof text, format, value);
    return text;
}

/// 4096 is "4K", 0.5 is "0.5".
inline std::string tick_label(double value) {
    constexpr std::pair<double, char> units[] = {{1073741824, 'G'}, {1048576, 'M'}, {1024, 'K'}};
    for (auto const& [unit, letter] : units)
        if (value >= unit) return number("%g", value / unit) + letter;
    return number("%g", value);
}

inline std::string line_from(double x1, double y1, double x2, double y2) {
    return "<line x1=\"" + number("%.1f", x1) + "\" y1=\"" + number("%.1f", y1) + "\" x2=\"" + number("%.1f", x2) + "\" y2=\"" +
           number("%.1f", y2) + "\" stroke=\"#ddd\"/>";
}

inline std::string text_at(double x, double y, std::string const& more, std::string_view text) {
    return "<text x=\"" + number("%.1f", x) + "\" y=\"" + number("%.1f", y) + "\"" + more + ">" + escaped(text) + "</text>\n";
}

/// A logarithmic axis from `low` to `high`, both powers of `base`, on so many pixels.
struct log_axis {
    double base;
    double low;
    double high;
    double begin;
    double end;

    double place(double value) const {
        return begin + (end - begin) * std::log(value / low) / std::log((std::max)(high / low, base));
    }
    /// Powers of the base, thinned out to at most ten.
    std::vector<double> ticks() const {
        double const many = std::round(std::log(high / low) / std::log(base));
        double const step = std::pow(base, std::ceil((std::max)(many, 1.0) / 10));
        std::vector<double> all;
        for (double at = low; at <= high * 1.0001; at *= step) all.push_back(at);
        return all;
    }

    static log_axis around(double base, double least, double most, double begin, double end) {
        double const low = std::pow(base, std::floor(std::log(least) / std::log(base) + 1e-9));
        double const high = std::pow(base, std::ceil(std::log(most) / std::log(base) - 1e-9));
        return {base, low, (std::max)(high, low * base), begin, end};
    }
};

}  // namespace detail

/// A plot as SVG: both axes logarithmic, the x axis in bytes by powers of two, the y axis by powers of ten, every curve with
/// its points and its name beside it. Points that are not above zero are left out.
class svg_plot {
 public:
    svg_plot(std::string_view title, std::string_view y_label, std::vector<curve> const& curves)
        : curves_{curves}, x_axis_{around(2, &point::first, 80, 640)}, y_axis_{around(10, &point::second, 440, 50)} {
        svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 500\" font-family=\"sans-serif\" "
               "font-size=\"12\">\n<rect width=\"860\" height=\"500\" fill=\"white\"/>\n" +
               detail::text_at(80, 28, " font-size=\"15\"", title);
        draw_axes(y_label);
        for (std::size_t i = 0; i < curves.size(); ++i) draw_curve(i);
        svg_ += "</svg>\n";
    }

    std::string const& text() const noexcept { return svg_; }

 private:
    using point = std::pair<double, double>;

    static bool is_drawn(point const& p) { return p.first > 0 && p.second > 0; }

    detail::log_axis around(double base, double point::*coordinate, double begin, double end) const {
        std::vector<double> all;
        for (curve const& each : curves_)
            for (point const& p : each.points)
                if (is_drawn(p)) all.push_back(p.*coordinate);
        if (all.empty()) throw std::invalid_argument{"nothing to plot: no size above zero"};
        auto const [least, most] = std::minmax_element(all.begin(), all.end());
        return detail::log_axis::around(base, *least, *most, begin, end);
    }

    void draw_axes(std::string_view y_label) {
        for (double tick : x_axis_.ticks()) {
            double const x = x_axis_.place(tick);
            svg_ += detail::line_from(x, 440, x, 50) +
                    detail::text_at(x, 458, " text-anchor=\"middle\"", detail::tick_label(tick));
        }
        for (double tick : y_axis_.ticks()) {
            double const y = y_axis_.place(tick);
            svg_ += detail::line_from(80, y, 640, y) +
                    detail::text_at(74, y + 4, " text-anchor=\"end\"", detail::number("%g", tick));
        }
        svg_ += detail::text_at(360, 482, " text-anchor=\"middle\"", "bytes") +
                detail::text_at(0, 0, " transform=\"translate(22,245) rotate(-90)\" text-anchor=\"middle\"", y_label);
    }

    void draw_curve(std::size_t i) {
        constexpr std::string_view colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#000000"};
        std::string const colour{colours[i % std::size(colours)]};
        std::string path;
        std::string dots;
        for (point const& p : curves_[i].points) {
            if (!is_drawn(p)) continue;
            std::string const x = detail::number("%.1f", x_axis_.place(p.first));
            std::string const y = detail::number("%.1f", y_axis_.place(p.second));
            path += x + ',' + y + ' ';
            dots += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"3\" fill=\"" + colour + "\"/>";
        }
        double const height = 60 + 20 * static_cast<double>(i);
        svg_ += "<polyline points=\"" + path + "\" fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"2\"/>" + dots +
                "\n<rect x=\"656\" y=\"" + detail::number("%g", height) + "\" width=\"12\" height=\"12\" fill=\"" + colour +
                "\"/>" + detail::text_at(674, height + 10, "", curves_[i].name);
    }

    std::vector<curve> const& curves_;
    detail::log_axis x_axis_;
    detail::log_axis y_axis_;
    std::string svg_;
};

inline std::string plot_svg(std::string_view title, std::string_view y_label, std::vector<curve> const& curves) {
    return svg_plot{title, y_label, curves}.text();
}

/// Throws std::runtime_error.
inline void write_text(std::string const& path, std::string const& text) {
    std::ofstream file{path};
    file << text;
    if (!file.flush()) throw std::runtime_error{"cannot write " + path};
}

}  // namespace bench
