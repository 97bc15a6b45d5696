# compile_commands.awk - makes compile_commands.json, which clangd and clang-tidy read, of what `make -nB V=1` prints.
#
#     awk -v folder=FOLDER -f harness/compile_commands.awk
#
# A file that is compiled several times, once per fork/join policy or per configuration, has the command that came first.
# Flags that only gcc knows are left out: clang refuses them, and they change nothing of what a program means.

function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}

BEGIN { print "[" }

match($0, / -c -o [^ ]+ [^ ]+/) {
    command = substr($0, 1, RSTART + RLENGTH - 1)
    words = split(command, word, " ")
    file = word[words]
    if (file in seen || file !~ /\.(c|cc|cpp)$/) next
    seen[file] = 1
    gsub(/ (-ffixed-[^ ]+|--param=[^ ]+|-fno-defer-pop|-fno-combine-stack-adjustments)/, "", command)
    gsub(/ +/, " ", command)
    printf "%s{\"directory\": %s, \"file\": %s, \"command\": %s}", count++ ? ",\n" : "", quoted(folder), quoted(file), quoted(command)
}

END { print "\n]" }
