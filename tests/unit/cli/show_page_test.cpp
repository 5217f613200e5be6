// show --html in a browser: what is drawn and what is told under the pointer. Without chromium the
// test is skipped.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>

#include "qkv/io/write.hpp"
#include "support/arrays.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

std::string said_by(const std::string& command) {
  std::string said;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return said;
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe))
    said.append(part.data(), count);
  pclose(pipe);
  return said;
}

/// The page's document after its scripts have run.
std::string browsed(const std::string& address, const std::string& folder) {
  return said_by("timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir=" +
                 folder + "/profile --window-size=1000,800 --dump-dom " + address + " 2>/dev/null");
}

bool has_browser(const std::string& folder) {
  if (browsed("about:blank", folder).find("<body>") != std::string::npos) return true;
  std::cout << "skipped: no chromium here that starts\n";
  return false;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream stream;
  stream << file.rdbuf();
  return stream.str();
}

/// Points at cells and looks at pixels, and leaves what it found in an element of its own.
constexpr const char* probe = R"js(<script>
const found = [];
addEventListener("error", event => found.push("error: " + event.message));
document.addEventListener("securitypolicyviolation", event => found.push("blocked: " + event.blockedURI));
const panel = panels[0], canvas = panel.canvas;
const at = (row, column) => [panel.left + (column + 0.5) * panel.cell,
                             panel.above + (row + 0.5) * panel.cell];
for (const [row, column] of [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]) {
  const [x, y] = at(row, column), box = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + x, clientY: box.top + y}));
  const scale = devicePixelRatio;
  const pixel = canvas.getContext("2d").getImageData((x - panel.cell / 2 + 2) * scale,
                                                     (y - panel.cell / 2 + 2) * scale, 1, 1).data;
  found.push(Array.from(tip.childNodes, node => node.textContent).join("|") + "|" +
             Array.from(pixel).slice(0, 3).join(","));
}
const slider = document.getElementById("share");
slider.value = 1;
slider.dispatchEvent(new Event("input"));
found.push("a tenth: " + colour(0.05, panel.stage) + " " +
           Array.from(document.querySelectorAll("[data-end]"), end => end.textContent));
found.push("wide: " + (document.documentElement.scrollWidth > innerWidth));
const pre = document.createElement("pre");
pre.id = "found";
pre.textContent = found.join("\n");
document.body.append(pre);
</script>)js";

}  // namespace

TEST_CASE("show --html: a browser draws the cells and tells value, index and tokens") {
  const Folder folder;
  if (!has_browser(folder.path())) return;
  const double inf = std::numeric_limits<double>::infinity();
  write_npy(folder / "t.npy",
            array_of({3, 2}, {1, 0, 0.25, -inf, std::nan(""), inf}, DType::float32).array);
  std::ofstream(folder / "rows") << "<b>\n注意\nc\n";
  std::ofstream(folder / "columns") << "x\ny\n";
  const Ended ended =
      run_program({"show", folder / "t.npy", "--row-labels", folder / "rows", "--column-labels",
                   folder / "columns", "--html", folder / "page.html"});
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  const std::string html = contents(folder / "page.html");
  const std::string end = "</body>";
  std::ofstream(folder / "probed.html")
      << html.substr(0, html.rfind(end)) << probe << html.substr(html.rfind(end));
  const std::string document = browsed("file://" + folder / "probed.html", folder.path());
  const std::size_t start = document.find("<pre id=\"found\">");
  REQUIRE(start != std::string::npos);
  const std::string found = document.substr(start + 16, document.find("</pre>") - start - 16);
  const std::string name = folder / "t.npy";
  // (37,75,120) is step 64 of 254 along the curve of the sequential map, computed apart from qkv.
  CHECK(found == "1|" + name + "[0,0]\n&lt;b&gt; → x|243,242,135\n" + "0|" + name +
                     "[0,1]\n&lt;b&gt; → y|28,14,64\n" + "0.25|" + name +
                     "[1,0]\n注意 → x|37,75,120\n" + "hidden|" + name +
                     "[1,1]\n注意 → y|200,200,200\n" + "NaN|" + name + "[2,0]\nc → x|255,0,200\n" +
                     "+Inf|" + name +
                     "[2,1]\nc → y|0,255,60\n" +  // 0.05 is the middle of 0 to 0.1.
                     "a tenth: #3e898f 0,0.1\nwide: false");
}
