// A line of a listing that is too long for where it is shown, as a person would break it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace trainscope::program {

struct WrappedLine {
  std::vector<std::string_view> rows;  // the line's parts, in order; nothing is lost
  std::size_t indent = 0;              // columns by which all rows but the first are set in
};

// In rows of at most `columns` letters, the indent included; of a narrower place as in one of 12.
// A row ends after a comma, an opening bracket or a blank: in as few brackets as there are, before
// a comment that would be cut. None begins with a comma or a closing bracket where that can be.
WrappedLine wrapped(std::string_view line, std::size_t columns);

// Where else than at its blanks a line may go on: after opening brackets that hold something.
std::vector<std::size_t> breaks_in_brackets(std::string_view line);

}  // namespace trainscope::program
