"""How long lists of C++ are: as they were made, until a method of theirs changes that."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_code import read

HOST = """\
#include <vector>
#define SIDE 10
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  std::vector<int> list(64);
  std::vector<int> empty;
  std::vector<std::vector<float>> grid(20, std::vector<float>(SIDE));
  std::vector<std::vector<int>> braced = {{1, 2, 3}, {4, 5, 6}};
  std::vector<std::vector<std::vector<float>>> deep(
      5, std::vector<std::vector<float>>(SIDE, std::vector<float>(12, 0.5f)));
  %s
  cl::Kernel kernel(program, "scale");
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(%s), cl::NullRange);
}
"""


@pytest.mark.parametrize(
    ("done", "size", "expected"),
    [
        ("", "list.size()", [64]),
        ("list.resize(128);", "list.size()", [128]),
        ("list.resize(n);", "list.size()", [None]),
        ("list.assign(100, 0);", "list.size()", [100]),
        ("list.assign(other.begin(), other.end());", "list.size()", [None]),
        ("list.clear();", "list.size() + 8", [8]),
        ("list.push_back(3);", "list.size()", [None]),
        ("list.pop_back();", "list.size()", [None]),
        ("list.erase(list.begin());", "list.size()", [None]),
        ("list.insert(list.end(), other.begin(), other.end());", "list.size()", [None]),
        ("list.swap(other);", "list.size()", [None]),
        ("list.reserve(1000);", "list.size()", [64]),
        ("std::sort(list.begin(), list.end());", "list.size()", [64]),
        ("if (argc > 2) list.resize(32);", "list.size()", [None]),
        ("readInto(list);", "list.size()", [None]),
        ("empty.resize(96);", "empty.size()", [96]),
        ("empty.resize(96); empty.push_back(1);", "empty.size()", [None]),
        ("", "grid.size(), grid[0].size()", [20, 10]),
        (
            "for (int i = 0; i < 20; i++) for (int j = 0; j < SIDE; j++) grid[i][j] = 1;",
            "grid[n].size()",
            [10],
        ),
        ("", "deep.size(), deep[0].size(), deep[0][0].size()", [5, 10, 12]),
        ("", "braced.size(), braced[1].size()", [2, 3]),
        ("std::vector<Layer> layers = {{1, 2}, {3, 4}};", "layers.size(), layers[n].width", [2, None]),
        ("grid[3] = std::vector<float>(7);", "grid.size(), grid[n].size()", [20, None]),
        ("grid[3].push_back(1);", "grid[n].size()", [None]),
        ("for (int i = 0; i < n; i++) grid[i].resize(4);", "grid[n].size()", [None]),
        ("grid.resize(30);", "grid.size(), grid[0].size()", [30, None]),
        ("grid.push_back(std::vector<float>(3));", "grid.size(), grid[0].size()", [None, None]),
    ],
)
def test_lists_are_as_long_as_they_are(
    tmp_path: Path, done: str, size: str, expected: list[int | None]
) -> None:
    launch = read(tmp_path, app_dot_cpp=HOST % (done, size))["scale"]
    assert [it.number for it in launch.global_size] == expected


SIZES = """\
#include <vector>
std::vector<size_t> worked(size_t n) {
  std::vector<size_t> sizes(2);
  sizes[0] = n;
  sizes[1] = 2 * n;
  return sizes;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  std::vector<size_t> sizes(2);
  sizes[0] = 64;
  sizes[1] = 32;
  %s
  cl_kernel kernel = clCreateKernel(program, "scale", NULL);
  clEnqueueNDRangeKernel(queue, kernel, 2, NULL, sizes.data(), NULL, 0, NULL, NULL);
  cl::Kernel other(program, "shift");
  queue.enqueueNDRangeKernel(other, cl::NullRange, cl::NDRange(sizes[0], sizes[1]), cl::NullRange);
}
"""


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        ("", [64, 32]),
        ("sizes[1] *= 4;", [64, 128]),
        ("std::sort(sizes.begin(), sizes.end());", [None, None]),
        ("std::fill(sizes.begin(), sizes.end(), 8);", [None, None]),
        ("choose(sizes);", [None, None]),
        ("choose(sizes.data());", [None, None]),
        ("choose(&sizes[0]);", [None, None]),
        ("for (size_t &it : sizes) it *= 2;", [None, None]),
        ("if (argc > 2) sizes[0] = 128;", [None, 32]),
        ("sizes[n] = 128;", [None, None]),
        ("sizes.assign(2, 7);", [None, None]),
        ("sizes = worked(n);", [None, None]),
        ("std::vector<size_t> more = sizes; more[0] = 1;", [64, 32]),
    ],
)
def test_elements_of_lists_are_known_until_others_may_write_them(
    tmp_path: Path, done: str, expected: list[int | None]
) -> None:
    found = read(tmp_path, app_dot_cpp=SIZES % done)
    assert [it.number for it in found["scale"].global_size] == expected
    assert [it.number for it in found["shift"].global_size] == expected
