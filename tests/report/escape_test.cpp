#include "report/escape.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "report/words.h"

using namespace trainscope;

TEST_CASE("text in HTML opens no tag and closes no attribute") {
  CHECK(report::html_text("<b a='x' c=\"y\"> & </script>") ==
        "&lt;b a=&#39;x&#39; c=&quot;y&quot;&gt; &amp; &lt;/script&gt;");
}

TEST_CASE("bytes that are not UTF-8, and control characters, become U+FFFD") {
  CHECK(report::html_text("a\xFF\xC0z") == "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  CHECK(report::html_text(std::string_view("a\0b\x1B", 4)) ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD");
  CHECK(report::html_text("\xC3\xA9\n\t") == "\xC3\xA9\n\t");
}

TEST_CASE("a JSON string is plain ASCII that no HTML parser looks into") {
  const std::string nasty =
      "</script><!-- \xE2\x80\xA8 \xE2\x80\xA9 & \"q\" \\ \n \xF0\x9F\x98\x80";
  const std::string text = report::json_text(nasty);
  for (const char letter : text) CHECK((letter >= 0x20 && letter < 0x7F));
  for (const char letter : {'<', '>', '&'}) CHECK(text.find(letter) == text.npos);
  CHECK(nlohmann::json::parse(text) == nasty);
  CHECK(nlohmann::json::parse(report::json_text("x\xFF")) == "x\xEF\xBF\xBD");
}

TEST_CASE("prose knows code, strong and emphasis, and nothing else") {
  CHECK(report::html_prose("**pinned** `x * y * z` *so* <i>") ==
        "<strong>pinned</strong> <code>x * y * z</code> <em>so</em> &lt;i&gt;");
  CHECK(report::html_prose("**Select, on *stream 7*, what `f(a * b)` causes.**") ==
        "<strong>Select, on <em>stream 7</em>, what <code>f(a * b)</code> causes.</strong>");
  CHECK(report::html_prose("2 * 3, an open ` and **") == "2 * 3, an open ` and **");
}
