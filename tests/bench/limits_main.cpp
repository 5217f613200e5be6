// What this CPU can do, sampled when asked, for compare.py: one line of JSON for each line read.
//   usage: qkv_limits THREADS
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "limits.hpp"

int main(int count, char** arguments) {
  using namespace qkv;
  const std::size_t threads = count == 2 ? std::strtoul(arguments[1], nullptr, 10) : 0;
  if (threads == 0) {
    std::cerr << "usage: qkv_limits THREADS\n";
    return 2;
  }
  // Far more than the caches hold.
  const std::vector<float> numbers(std::size_t{64} << 20, 1.0F);
  const Isa isa = isa_list().front();
  for (std::string line; std::getline(std::cin, line);) {
    double peak = 0, read = 0;
    for (int sample = 0; sample < 20; ++sample)
      peak = std::max(peak, bench::multiply_add_peak(isa, threads));
    for (int sample = 0; sample < 2; ++sample)
      read = std::max(read, bench::read_speed(numbers, threads));
    std::cout << "{\"flops\":" << peak << ",\"bytes\":" << read << '}' << std::endl;
  }
  return 0;
}
