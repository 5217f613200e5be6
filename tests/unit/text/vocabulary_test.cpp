// Vocabulary: order, ids and unknown words.
#include "qkv/text/vocabulary.hpp"

#include <catch2/catch.hpp>

#include "unit/text/golden_text.hpp"

using namespace qkv;
using namespace qkv::test;

TEST_CASE("sorted_vocabulary: the order and ids of Python's sorted(set(tokens))") {
  for (const Json& golden : golden_text("vocabularies").items()) {
    std::vector<Sentence> sentences;
    for (const Json& sentence : golden.find("sentences")->items())
      sentences.push_back(strings(sentence));
    const Vocabulary vocabulary = sorted_vocabulary(sentences);
    CHECK(vocabulary.tokens() == strings(*golden.find("vocabulary")));
    const LookedUp found = look_up(sentences, vocabulary, std::nullopt, "");
    CHECK(found.unknown.empty());
    REQUIRE(found.ids.size() == sentences.size());
    for (std::size_t b = 0; b < sentences.size(); ++b)
      CHECK(found.ids[b] == counts(golden.find("ids")->items()[b]));
  }
}

TEST_CASE("sorted_vocabulary: the six words, capital letters first") {
  const std::vector<Sentence> sentence = {{"Life", "is", "short", "eat", "dessert", "first"}};
  const Vocabulary vocabulary = sorted_vocabulary(sentence);
  CHECK(vocabulary.tokens() == Sentence{"Life", "dessert", "eat", "first", "is", "short"});
  CHECK(look_up(sentence, vocabulary, std::nullopt, "").ids == Ids{{0, 4, 5, 2, 1, 3}});
}

TEST_CASE("vocabulary_of_lines: the line number is the id, and an empty line holds its own") {
  const Vocabulary vocabulary = vocabulary_of_lines({"<unk>", "", "b", "a", ""}, "vocab.txt");
  CHECK(vocabulary.size() == 5);
  CHECK(vocabulary.id("b") == 2);
  CHECK(vocabulary.id("a") == 3);
  CHECK_FALSE(vocabulary.id(""));
  CHECK_FALSE(vocabulary.id("A"));
}

TEST_CASE("vocabulary_of_lines: a token on two lines, or none at all, is an error") {
  CHECK(told([] {
          vocabulary_of_lines({"a", "b", "a"}, "vocab.txt");
        }) ==
        "a token with two ids (vocab.txt, line 3): expected another token on each line, got a, "
        "which line 1 has too");
  CHECK(told([] { vocabulary_of_lines({}, "vocab.txt"); }) ==
        "no vocabulary (vocab.txt): expected a token a line, got an empty file");
  CHECK(told([] { vocabulary_of_lines({"", ""}, "v"); }).ends_with("got empty lines"));
}

TEST_CASE("look_up: unknown words get the id that is meant for them, each named once") {
  const std::vector<Sentence> sentences = {{"a", "x", "b"}, {"x", "y"}};
  const Vocabulary vocabulary({"<unk>", "a", "b"});
  const LookedUp found = look_up(sentences, vocabulary, 0, "vocab.txt");
  CHECK(found.ids == Ids{{1, 0, 2}, {0, 0}});
  CHECK(found.unknown == Sentence{"x", "y"});
}

TEST_CASE("look_up: without such an id the error names them, with the word that was meant") {
  const std::vector<Sentence> sentences = {{"dessert", "Life"}, {"zebra"}};
  const Vocabulary vocabulary({"life", "dessert"});
  CHECK(told([&] { look_up(sentences, vocabulary, std::nullopt, "vocab.txt"); }) ==
        "unknown words (vocab.txt): expected words that are among its 2 tokens, got Life and "
        "zebra\nhint: life is in it; --unk TOKEN gives unknown words the id of that token");
}
