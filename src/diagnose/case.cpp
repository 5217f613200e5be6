// Case: the user's stages brought to the axes of the problem.
#include "qkv/diagnose/case.hpp"

#include <algorithm>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

/// Axes of length 1 mean nothing: (1,4,8) and (4,8) hold the same.
Shape without_ones(const Shape& shape) {
  Shape rest;
  std::ranges::copy_if(shape, std::back_inserter(rest), [](std::size_t axis) { return axis != 1; });
  return rest;
}

/// (B,H,L,.) or (B,1,L,.): the four axes in which the pipeline shows a stage.
Shape four_axes(const StageShape& stage) {
  Shape four = {1, 1, 1, 1};
  const bool blhd = stage.dims.size() >= 3 && stage.dims[stage.dims.size() - 3] == "L" &&
                    stage.dims[stage.dims.size() - 2] == "H";
  for (std::size_t axis = 0; axis < stage.dims.size(); ++axis) {
    const std::string& symbol = stage.dims[axis];
    const bool width = axis + 1 == stage.dims.size(), length = axis + 2 == stage.dims.size();
    const std::size_t place = width ? 3 : length ? 2 : symbol == "B" ? 0 : 1;
    four[place] = stage.shape[axis];
  }
  return blhd ? Shape{four[0], stage.shape[stage.shape.size() - 3],
                      stage.shape[stage.shape.size() - 2], four[3]}
              : four;
}

std::array<std::size_t, 4> sizes_of(const Shape& four) {
  return {four[0], four[1], four[2], four[3]};
}

/// The axes of a tensor that has not the stage's shape, told by its rank: the stage's own axes in
/// other lengths, or those with the head axis left out or put in; none where the rank says neither.
Shape foreign_axes(const Shape& shape, const StageShape& stage) {
  StageShape foreign = stage;
  foreign.shape = shape;
  std::vector<std::string>& dims = foreign.dims;
  const auto head = std::ranges::find_if(
      dims, [](const std::string& symbol) { return symbol == "H" || symbol == "G"; });
  if (shape.size() + 1 == dims.size() && head != dims.end()) {
    dims.erase(head);
  } else if (shape.size() == dims.size() + 1 && head == dims.end()) {
    dims.insert(dims.end() - 2, "H");
  }
  return shape.size() == dims.size() ? four_axes(foreign) : Shape{};
}

GotStage read_stage(const std::string& id, const NamedArray& named, const StageShape& stage) {
  GotStage got{
      .id = id, .where = named.where, .shape = named.array.shape, .dtype = named.array.dtype};
  Shape four = four_axes(stage);
  got.fits = without_ones(got.shape) == without_ones(stage.shape);
  if (!got.fits) {
    // The mean over the heads, or whatever a mistake may have made.
    four[1] = 1;
    if (without_ones(got.shape) != without_ones(four)) four = foreign_axes(got.shape, stage);
    if (four.empty()) return got;
  }
  got.value = Tensor<double, 4>::make(sizes_of(four));
  copy_elements(named.array, got.value.data());
  return got;
}

const StageShape& find_stage(const Case& the_case, const std::string& id,
                             const std::string& where) {
  std::vector<std::string> names;
  for (const StageShape& stage : the_case.stages) {
    if (stage.id == id) return stage;
    names.push_back(stage.id);
  }
  throw Error(Complaint{.what = "this configuration has no such stage",
                        .where = where + ", " + escaped(id),
                        .expected = listed(names, "or"),
                        .got = escaped(id)});
}

}  // namespace

Case make_case(const Inputs& inputs, const Settings& settings,
               const std::map<std::string, NamedArray>& got) {
  Case made;
  made.inputs = &inputs;
  made.problem = make_problem<double>(inputs, settings);
  made.stages = stage_shapes(inputs, settings, made.problem.sizes);
  Complaints complaints;
  for (const auto& [id, named] : got) {
    complaints.attempt([&, key = id, tensor = named] {
      const StageShape& stage = find_stage(made, key, tensor.where);
      GotStage read = read_stage(key, tensor, stage);
      made.eps = std::max(made.eps, epsilon(read.dtype));
      made.got.emplace(key, std::move(read));
    });
  }
  complaints.throw_if_any();
  return made;
}

}  // namespace qkv
