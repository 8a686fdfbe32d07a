#include "scenario/sidecar.h"

#include <fmt/format.h>

#include "base/toml.h"

namespace trainscope::scenario {
namespace {

namespace fs = std::filesystem;

class SidecarReader {
 public:
  explicit SidecarReader(const fs::path& file) : file_(file.string()) {
    read_table(read_toml(file), "");
  }
  Sidecar sidecar;

 private:
  void read_table(const toml::table& table, const std::string& at) {
    for (const auto& [key, node] : table) read_node(node, at, std::string(key.str()));
  }

  void read_node(const toml::node& node, const std::string& at, const std::string& key) {
    const std::string id = at.empty() ? key : at + "." + key;
    if (const toml::table* table = node.as_table()) {
      sidecar.places.emplace(id, place_of(node, file_));
      read_table(*table, id);
    } else if (key == "also" && node.is_array()) {
      read_also(*node.as_array(), at);
    } else if (const toml::array* array = node.as_array()) {
      for (std::size_t i = 0; i < array->size(); ++i)
        read_node(*array->get(i), id, std::to_string(i + 1));
    } else if (!node.is_string()) {
      fail_at(node, file_, id + " is no text; write it in quotes");
    } else {
      Translated one{*node.value<std::string>(), place_of(node, file_)};
      if (key == "original")
        sidecar.originals.emplace(at, std::move(one));
      else
        sidecar.texts.emplace(id, std::move(one));
    }
  }

  void read_also(const toml::array& words, const std::string& at) {
    for (const toml::node& word : words) {
      if (!word.is_string()) fail_at(word, file_, "also of " + at + " is no list of words");
      sidecar.also[at].push_back(*word.value<std::string>());
    }
  }

  std::string file_;
};

}  // namespace

bool Sidecar::made_of(const std::string& group, const std::string& print) const {
  const auto found = originals.find(group);
  return found != originals.end() && found->second.text == print;
}

Sidecar read_sidecar(const fs::path& file) {
  return SidecarReader(file).sidecar;
}

std::optional<Finding> fault_of_original(const Sidecar& sidecar, const std::string& group,
                                         const std::string& what, const std::string& print,
                                         const SourcePlace& place) {
  if (sidecar.made_of(group, print)) return std::nullopt;
  const std::string write = "write original = \"" + print + "\"";
  const auto found = sidecar.originals.find(group);
  if (found == sidecar.originals.end())
    return Finding{place, what + " does not say what it was made from; " + write};
  return Finding{
      found->second.place,
      what + " is outdated: its English texts have changed; read them again, then " + write};
}

std::string fingerprint(const std::vector<const std::string*>& texts) {
  std::uint32_t hash = 2166136261U;
  const auto take = [&hash](unsigned char byte) { hash = (hash ^ byte) * 16777619U; };
  for (const std::string* text : texts) {
    for (const char letter : *text) take(letter == '\n' ? ' ' : static_cast<unsigned char>(letter));
    take(0);
  }
  return fmt::format("{:08x}", hash);
}

}  // namespace trainscope::scenario
