// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "tools/softdat/perf/table.h"

namespace softdat::tools::perf {
namespace {

constexpr double kWidth = 760;
constexpr double kPanelHeight = 380;
constexpr double kLeft = 80;
constexpr double kRight = 150;  // room for the legend
constexpr double kTop = 50;
constexpr double kBottom = 50;
constexpr std::array kColours{"#1b6ca8", "#d1495b", "#2e933c", "#8f5db7", "#e08e1b", "#5c6770"};

// A logarithmic axis over [low, high] in pixels [from, to].
class Axis {
 public:
  Axis(double low, double high, double from, double to)
      : low_(std::log2(low)), high_(std::max(std::log2(high), low_ + 1)), from_(from), to_(to) {}
  double at(double value) const { return from_ + (std::log2(value) - low_) / (high_ - low_) * (to_ - from_); }

 private:
  double low_;
  double high_;
  double from_;
  double to_;
};

double plotted_value(const Result& result) {
  return result.quantiles.empty() ? result.megabytes_per_s : result.quantile(0.5);
}

const char* axis_title_of(Measure measure) {
  switch (measure) {
    case Measure::kLatency:
      return "latency, median, us";
    case Measure::kCompletion:
      return "completion, median, us";
    case Measure::kRate:
      return "rate, MB/s";
    case Measure::kBidirectional:
      return "bidirectional bandwidth, MB/s";
    default:
      return "bandwidth, MB/s";
  }
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                     colour);
}

class Panel {
 public:
  Panel(Measure measure, double top, const std::vector<const Result*>& results)
      : measure_(measure),
        top_(top + kTop),
        bottom_(top + kPanelHeight - kBottom),
        results_(results),
        sizes_(range([](const Result& result) { return static_cast<double>(result.what.size); })),
        values_(range(plotted_value)),
        x_(sizes_.first, sizes_.second, kLeft, kWidth - kRight),
        y_(values_.first, values_.second, bottom_, top_) {}

  std::string draw() const {
    return text_at(kLeft, top_ - 14, "start", axis_title_of(measure_)) + draw_axes() + draw_lines();
  }

 private:
  template <typename Of>
  std::pair<double, double> range(Of of) const {
    double low = of(*results_.front());
    double high = low;
    for (const Result* result : results_) {
      low = std::min(low, of(*result));
      high = std::max(high, of(*result));
    }
    return {low, high};
  }

  std::string draw_axes() const {
    std::string drawn =
        line(kLeft, bottom_, kWidth - kRight, bottom_, "#333") + line(kLeft, top_, kLeft, bottom_, "#333");
    for (double power = std::ceil(std::log10(values_.first)); power <= std::floor(std::log10(values_.second));
         ++power) {
      const double y = y_.at(std::pow(10, power));
      drawn += line(kLeft, y, kWidth - kRight, y, "#ddd") +
               text_at(kLeft - 8, y + 4, "end", fmt::format("{:g}", std::pow(10, power)));
    }
    std::map<std::uint64_t, int> sizes;
    for (const Result* result : results_) ++sizes[result->what.size];
    // At most a dozen labels fit beside each other.
    const std::size_t step = sizes.size() / 12 + 1;
    std::size_t index = 0;
    for (const auto& [size, count] : sizes) {
      if (index++ % step != 0) continue;
      drawn += text_at(x_.at(static_cast<double>(size)), bottom_ + 20, "middle", size_text(size));
    }
    return drawn;
  }

  std::string draw_lines() const {
    std::map<Operation, std::vector<const Result*>> lines;
    for (const Result* result : results_) lines[result->what.operation].push_back(result);
    std::string drawn;
    std::size_t index = 0;
    for (auto& [operation, points] : lines) {
      std::sort(points.begin(), points.end(), [](auto* a, auto* b) { return a->what.size < b->what.size; });
      drawn += draw_line(points, kColours[index % kColours.size()], index);
      ++index;
    }
    return drawn;
  }

  std::string draw_line(const std::vector<const Result*>& points, const char* colour, std::size_t index) const {
    std::string path;
    std::string dots;
    for (const Result* point : points) {
      const double x = x_.at(static_cast<double>(point->what.size));
      const double y = y_.at(plotted_value(*point));
      path += fmt::format("{:.1f},{:.1f} ", x, y);
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{} {}: {}</title></circle>\n",
                          x, y, colour, to_text(point->what.operation), size_text(point->what.size),
                          number_text(plotted_value(*point)));
    }
    const double legend = top_ + 10 + 20 * static_cast<double>(index);
    return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour) +
           dots + line(kWidth - kRight + 12, legend - 4, kWidth - kRight + 32, legend - 4, colour) +
           text_at(kWidth - kRight + 38, legend, "start", std::string(to_text(points.front()->what.operation)));
  }

  const Measure measure_;
  const double top_;
  const double bottom_;
  const std::vector<const Result*> results_;
  const std::pair<double, double> sizes_;
  const std::pair<double, double> values_;
  const Axis x_;
  const Axis y_;
};

}  // namespace

std::string plot_svg(const std::string& title, const std::vector<Result>& results) {
  std::map<Measure, std::vector<const Result*>> panels;
  for (const Result& result : results) {
    const bool has_place = has_traffic(result.what.measure) && result.unavailable.empty() && plotted_value(result) > 0;
    if (has_place) panels[result.what.measure].push_back(&result);
  }
  constexpr double kTitle = 30;
  const double height = kTitle + kPanelHeight * static_cast<double>(panels.size());
  std::string drawn = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, height);
  drawn += text_at(kLeft, 24, "start", title);
  double top = kTitle;
  for (const auto& [measure, points] : panels) {
    drawn += Panel(measure, top, points).draw();
    top += kPanelHeight;
  }
  return drawn + "</svg>\n";
}

}  // namespace softdat::tools::perf
