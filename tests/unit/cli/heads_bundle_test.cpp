// A bundle whose heads each have projections of their own: as PyTorch computes a list of heads.
#include <catch2/catch.hpp>
#include <filesystem>

#include "qkv/io/write.hpp"
#include "support/arrays.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

namespace fs = std::filesystem;

const std::string data = QKV_TEST_DATA "/heads/";

constexpr const char* cases[] = {"parameters",
                                 "linear_biased",
                                 "linear_wide_values",
                                 "square_as_wo_tells",
                                 "parameters_merged",
                                 "cross",
                                 "one"};

/// The golden sums are of some ten products of numbers near 1, in float64.
constexpr double near = 1e-12;

std::string golden(const std::string& name, const std::string& member) {
  return data + name + ".npz:" + member;
}

/// A copy of a bundle that a test may spoil.
void copy_bundle(const std::string& name, const Folder& folder) {
  fs::copy(data + name, folder.path(),
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

/// The error that a spoilt bundle gives.
std::string error_of(const Folder& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"run", folder.path()};
  words.insert(words.end(), more.begin(), more.end());
  const Ended ended = run_program(words);
  CHECK(ended.status == 2);
  std::string text = ended.err;
  for (std::size_t at = 0; (at = text.find(folder.path())) != std::string::npos;)
    text.replace(at, folder.path().size(), "demo");
  return text;
}

}  // namespace

TEST_CASE("heads: trace and run agree with a list of single heads, side by side") {
  for (const std::string name : cases) {
    INFO(name);
    const Folder folder;
    const Ended traced = run_program({"trace", data + name, "--dump", folder / "dump"});
    REQUIRE(traced.status == 0);
    for (const char* stage : {"attn", "out"}) {
      INFO(stage);
      CHECK(departure(tensor_file(folder / "dump/" + stage + ".npy"),
                      tensor_file(golden(name, stage)), near) == "");
    }
    REQUIRE(run_program({"run", data + name, "-o", folder / "out.npy"}).status == 0);
    CHECK(departure(tensor_file(folder / "out.npy"), tensor_file(golden(name, "out")), near) == "");
  }
}

TEST_CASE("heads: the gradients of the heads lie side by side as the heads do") {
  for (const std::string name : cases) {
    INFO(name);
    const Folder folder;
    const Ended ended = run_program({"grad", data + name, "--dump", folder / "dump"});
    REQUIRE(ended.status == 0);
    for (const char* grad : {"grad_x", "grad_wq", "grad_wk", "grad_wv"}) {
      INFO(grad);
      // Of cross-attention the gradient of x is the queries' alone, in both.
      CHECK(departure(tensor_file(folder / "dump/" + grad + ".npy"),
                      tensor_file(golden(name, grad)), near) == "");
    }
    if (!fs::exists(data + name + "/heads/0/bq.npy")) continue;
    for (const char* grad : {"grad_bq", "grad_bv"}) {
      CHECK(departure(tensor_file(folder / "dump/" + grad + ".npy"),
                      tensor_file(golden(name, grad)), near) == "");
    }
  }
}

TEST_CASE("heads: a folder of weights may hold them too, and a flag wins over one role") {
  const Folder folder;
  const std::string bundle = data + "linear_biased";
  const Ended ended = run_program({"run", bundle + "/x.npy", "-w", bundle, "--causal", "--compute",
                                   "f64", "-o", folder / "out.npy"});
  REQUIRE(ended.status == 0);
  const Array want = tensor_file(golden("linear_biased", "out"));
  CHECK(departure(tensor_file(folder / "out.npy"), want, near) == "");

  // The keys of all heads, put side by side by hand: rows of (out,in).
  std::vector<double> rows;
  for (const char* head : {"0", "1", "2"}) {
    const Array wk = tensor_file(bundle + "/heads/" + head + "/wk.npy");
    for (std::size_t n = 0; n < element_count(wk.shape); ++n) rows.push_back(element(wk, n));
  }
  write_npy(folder / "wk.npy", array_of({6, 6}, rows).array);
  const Ended flagged =
      run_program({"run", bundle, "--wk", folder / "wk.npy", "-o", folder / "flagged.npy"});
  REQUIRE(flagged.status == 0);
  CHECK(departure(tensor_file(folder / "flagged.npy"), want, near) == "");
}

TEST_CASE(
    "heads: without their own outputs to tell, square heads are read in-out and a note says so") {
  const Folder folder;
  copy_bundle("square_as_wo_tells", folder);
  fs::remove(folder / "wo.npy");
  fs::remove(folder / "bo.npy");
  const Ended in_out = run_program({"run", folder.path(), "-o", folder / "in_out.npy"});
  CHECK(in_out.status == 0);
  CHECK(in_out.err.find("heads/*/wq.npy") != std::string::npos);
  CHECK(in_out.err.find("are square: read as in-out") != std::string::npos);
  const Ended out_in =
      run_program({"run", folder.path(), "--weight-order", "out-in", "-o", folder / "out_in.npy"});
  CHECK(out_in.status == 0);
  CHECK(out_in.err.find("square") == std::string::npos);
  CHECK(departure(tensor_file(folder / "in_out.npy"), tensor_file(folder / "out_in.npy"), near) !=
        "");
}

TEST_CASE(
    "heads: diagnose finds stages of a list of heads right, and heads in the other order wrong") {
  const Folder folder;
  const std::string bundle = data + "parameters_merged";
  write_npy(folder / "attn.npy", tensor_file(golden("parameters_merged", "attn")));
  write_npy(folder / "out.npy", tensor_file(golden("parameters_merged", "out")));
  CHECK(run_program({"diagnose", bundle, "--got", folder.path()}).status == 0);
  write_npy(folder / "attn.npy", tensor_file(golden("parameters_merged", "attn") + "[:,::-1]"));
  CHECK(run_program({"diagnose", bundle, "--got", folder.path()}).status == 1);
}

TEST_CASE("heads: what is wrong with a bundle of heads is said with its file") {
  const Folder folder;
  const auto fresh = [&] {
    fs::remove_all(folder / "heads");
    fs::remove(folder / "wq.npy");
    copy_bundle("linear_biased", folder);
  };
  fresh();
  fs::rename(folder / "heads/1", folder / "heads/3");
  CHECK(error_of(folder) ==
        "qkv: error: heads are not numbered through (demo/heads): expected folders 0 to 2, got 0, "
        "2 and 3\n");
  fresh();
  fs::remove(folder / "heads/1/wk.npy");
  CHECK(error_of(folder) ==
        "qkv: error: a head lacks a weight (demo/heads/1/wk.npy): expected wq.npy, wk.npy and "
        "wv.npy in each head's folder, got no such file\n");
  fresh();
  fs::remove(folder / "heads/2/bv.npy");
  CHECK(error_of(folder) ==
        "qkv: error: a head lacks a bias (demo/heads/2/bv.npy): expected one in each head's folder "
        "as demo/heads/0/bv.npy, or in none, got no such file\n");
  fresh();
  write_npy(folder / "heads/1/wv.npy", array_of({3, 6}, std::vector<double>(18, 1)).array);
  CHECK(error_of(folder) ==
        "qkv: error: heads differ in width (demo/heads/1/wv.npy): expected (2,6) as in "
        "demo/heads/0/wv.npy, got (3,6)\n");
  fresh();
  fs::copy(folder / "heads/0/wq.npy", folder / "wq.npy");
  CHECK(error_of(folder) ==
        "qkv: error: a weight of all heads beside each head's own (demo/wq.npy): expected it, or "
        "the folders in demo/heads, got both\n");
  fresh();
  CHECK(error_of(folder, {"--heads", "2"}) ==
        "qkv: error: heads differ from the bundle's (--heads): expected 3, as many as the folders "
        "in demo/heads, got 2\n");
  CHECK(error_of(folder, {"--kv-heads", "1"}) ==
        "qkv: error: heads differ from the bundle's (--kv-heads): expected 3, as many as the "
        "folders in demo/heads, got 1\n");
  fs::copy(folder / "wo.npy", folder / "heads/0/wo.npy");
  CHECK(error_of(folder) ==
        "qkv: error: not a weight of one head (demo/heads/0/wo.npy): expected wq, wk, wv, bq, bk "
        "and bv; what all heads share stands beside the folder heads, got wo\n");
}

TEST_CASE("heads: the layers of a stack of blocks may be lists of heads") {
  // The stack's golden stages are those of its joined weights; each layer is split by hand.
  const std::string stack = QKV_TEST_DATA "/block/stack_pre";
  const Folder folder;
  fs::copy(stack, folder.path(), fs::copy_options::recursive);
  for (const fs::directory_entry& layer : fs::directory_iterator(folder / "layers")) {
    for (const char* role : {"wq", "wk", "wv", "bq", "bk", "bv"}) {
      const std::string file = (layer.path() / (std::string(role) + ".npy")).string();
      for (std::size_t h = 0; h < 3; ++h) {
        const fs::path head = layer.path() / "heads" / std::to_string(h);
        fs::create_directories(head);
        const std::string rows = std::to_string(4 * h) + ":" + std::to_string(4 * h + 4);
        write_npy((head / (std::string(role) + ".npy")).string(),
                  tensor_file(file + "[" + rows + "]"));
      }
      fs::remove(file);
    }
  }
  const Ended ended =
      run_program({"block", folder.path(), "--compute", "f64", "-o", folder / "out.npy"});
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  CHECK(departure(tensor_file(folder / "out.npy"), tensor_file(stack + ".npz:2.block_out"),
                  1e-10) == "");
}

TEST_CASE("heads: -w wins over the weights of a bundle, plain or of heads") {
  const Folder folder;
  const auto out = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"-q", "-o", folder / "out.npy"});
    INFO(command_line(words));
    REQUIRE(run_program(words).status == 0);
    return tensor_file(folder / "out.npy");
  };
  const std::string plain = folder / "plain", other = folder / "other", heads = data + "parameters";
  // Biases of the bundle do not go to weights of another.
  REQUIRE(run_program({"init", plain, "--d-model", "6", "--bias", "--seed", "1"}).status == 0);
  REQUIRE(run_program({"init", other, "--d-model", "6", "--seed", "2"}).status == 0);
  CHECK(departure(out({plain, "-w", other}), out({plain + "/x.npy", "-w", other}), 0) == "");
  CHECK(departure(out({plain, "-w", heads}), out({plain + "/x.npy", "-w", heads}), 0) == "");
  CHECK(departure(out({heads, "-w", other}),
                  out({heads + "/x.npy", "-w", other, "--compute", "f64"}), 0) == "");
  CHECK(departure(out({heads, "-w", data + "parameters_merged"}),
                  out({heads + "/x.npy", "-w", data + "parameters_merged", "--compute", "f64"}),
                  0) == "");

  // Queries, keys and values of the bundle need no projection, and keep to the output weight of -w.
  fs::create_directories(folder / "projected");
  for (const char* name : {"q", "k", "v"})
    write_npy(folder / "projected/" + name + ".npy", tensor_file(plain + "/x.npy"));
  const std::string projected = folder / "projected/";
  CHECK(departure(out({folder / "projected", "-w", plain}),
                  out({"--q", projected + "q.npy", "--k", projected + "k.npy", "--v",
                       projected + "v.npy"}),
                  0) == "");
}
