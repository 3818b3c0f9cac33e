#!/bin/bash
# check_instructions.sh <objdump> with-kernels|without-kernels <library>…: fails if a function outside the kernels'
# own namespaces uses instructions that a baseline x86-64 processor does not have. Such a function may be a weak
# symbol that the linker takes for baseline code too. Libraries "with kernels" must have some for every instruction
# set, so that the test cannot pass on nothing. Fails also if a symbol is of namespace Eigen, which the linker would take
# for the same one of a program: the library has Eigen under another name.
set -uo pipefail
objdump=$1
kernels=$2
shift 2
status=0

for library in "$@"; do
  "$objdump" --disassemble --demangle --no-show-raw-insn "$library" | awk -v library="${library##*/}" -v kernels="$kernels" '
    # 0000000000000040 <hindsight::internal::N_AVX2::sum(float const*)>:
    /^[0-9a-f]+ <.*>:$/ {
      name = substr($0, index($0, "<") + 1)
      sub(/>:$/, "", name)
      set = name ~ /(hindsight(::internal)?|hwy)::N_AVX3::/ ? "AVX3" : name ~ /(hindsight(::internal)?|hwy)::N_AVX2::/ ? "AVX2" : "none"
      ++functions
      next
    }
    #   4f:   vmovups (%rdi),%ymm0         VEX or EVEX encoded, by its name or by its registers
    /^ +[0-9a-f]+:\t/ {
      split($0, part, "\t")
      wide = part[2] ~ /%zmm|%[xyz]mm(1[6-9]|2[0-9]|3[01])|%k[0-7]/
      vector = wide || part[2] ~ /%ymm/ || (part[2] ~ /^v[a-z]/ && part[2] !~ /^ver[rw] /)
      if (!vector) next
      if (set == "none" || (set == "AVX2" && wide)) {
        if (!(name in blamed)) printf "%s: %s\n    uses %s\n", library, name, part[2]
        blamed[name] = 1
        ++leaks
      }
      if (!((set, name) in seen)) ++count[set]
      seen[set, name] = 1
    }
    END {
      printf "%s: %d functions, %d of them for AVX2 and %d for AVX-512\n", library, functions, count["AVX2"], count["AVX3"]
      if (functions == 0) { print library ": nothing was disassembled"; exit 1 }
      if (kernels == "with-kernels" && (!count["AVX2"] || !count["AVX3"])) { print library ": kernels are missing"; exit 1 }
      if (leaks) { print library ": instructions of a kernel outside the kernels"; exit 1 }
    }' || status=1
  "$objdump" --syms --demangle "$library" | awk -v library="${library##*/}" '
    # 0000000000000000  w    F .text._ZN5Eigen8internal11aligned_freeEPv  0000000000000018 Eigen::internal::aligned_free(void*)
    /(^|[^_[:alnum:]])Eigen::/ {
      if (!shared++) printf "%s: %s\n", library, $0
    }
    { ++symbols }
    END {
      if (symbols == 0) { print library ": has no symbols"; exit 1 }
      if (shared) { printf "%s: %d symbols that a program with Eigen has too\n", library, shared; exit 1 }
    }' || status=1
done
exit $status
