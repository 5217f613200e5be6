// Trying an alteration out: the altered computation beside the user's stages.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "qkv/diagnose/alteration.hpp"
#include "qkv/diagnose/case.hpp"
#include "qkv/diagnose/diagnose.hpp"

namespace qkv {

/// Runs the altered computation. At each stage that the user gave it is compared with the user's,
/// and goes on from the user's where the shapes allow it, so that one early mistake does not drown
/// the later ones.
///
/// `must_match` names stages at which to give up as soon as they do not match: the result then
/// holds what was compared so far. Nothing after the last of the user's stages is computed.
std::vector<StageFinding> try_out(const Case& the_case, const Alteration& alteration,
                                  const std::vector<std::string>& must_match = {});

}  // namespace qkv
