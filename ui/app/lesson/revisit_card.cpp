#include "ui/app/lesson/revisit_card.h"

#include <utility>

namespace trainscope::ui {
namespace {

std::string verdict_of(const analysis::SheetStep& question, int chosen) {
  const analysis::SheetOption& option = question.options[static_cast<std::size_t>(chosen)];
  std::string words = option.right ? "" : option.why;
  if (!question.depends.empty()) words += (words.empty() ? "" : "\n\n") + question.depends;
  return words;
}

std::vector<OptionCard> options_of(const Revisit& revisit) {
  std::vector<OptionCard> cards;
  for (const analysis::SheetOption& option : revisit.question()->question.options) {
    OptionCard card;
    card.text = option.text;
    card.number = static_cast<int>(cards.size());
    card.chosen = card.number == revisit.chosen();
    card.right = revisit.answered() && option.right;
    card.wrong = revisit.answered() && card.chosen && !option.right;
    card.tag = option_tag(card, revisit.question()->question.kind, !revisit.answered(), false);
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace

std::optional<RevisitCard> revisit_card_of(const Workspace& workspace) {
  const Revisit* revisit = workspace.revisit();
  if (!revisit) return std::nullopt;
  const scenario::AskedAgain& asked = *revisit->question();
  RevisitCard card;
  card.lesson = asked.missed.lesson;
  card.title = asked.title;
  card.caveat = asked.caveat;
  card.setting = asked.setting;
  card.text = asked.question.text;
  card.kind = asked.question.kind;
  card.options = options_of(*revisit);
  card.open = !revisit->answered();
  if (card.open) return card;
  card.right = card.options[static_cast<std::size_t>(revisit->chosen())].right;
  card.verdict = verdict_of(asked.question, revisit->chosen());
  card.explain = asked.question.explain;
  return card;
}

}  // namespace trainscope::ui
