// Trying an alteration out: the altered computation beside the user's stages.
#pragma once

#include <map>
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

/// The allowed differences of the right computation, stage by stage.
using Allowed = std::map<std::string, Tensor<double, 4>>;
Allowed allowed_by_rounding(const Case& the_case);

/// A quick look before try_out(): the altered computation alone, without the variances that cost
/// more than it does. False where a stage of `must_match` lies so far off, against what the right
/// computation is allowed, that no rounding can be it.
bool worth_trying(const Case& the_case, const Alteration& alteration,
                  const std::vector<std::string>& must_match, const Allowed& allowed);

}  // namespace qkv
