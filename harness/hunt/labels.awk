# labels.awk - the memory-order labels of the sources, as two lists for C: coverage.c.
#
#     awk -f harness/hunt/labels.awk FILE... >labels.h
#
# LABEL_SITES: X(label, file, first line, last line), a statement whose accesses carry the label. A label is what a
# comment begins with, at the statement, or alone above statements up to an empty line: as in tests/check/check_orders.sh,
# but a comment may begin with several.
# LABEL_PAIRS: X(file, label, label), where a comment says that the first "pairs with" the second.

# Where the first label of text begins, from a place on; 0: nowhere. RLENGTH is its length.
function label_at(text, from,    rest, at) {
    while (match(substr(text, from), /[A-Z]+[0-9]+/)) {
        at = from + RSTART - 1
        rest = RLENGTH
        if (substr(" " text, at, 1) !~ /[A-Za-z0-9_[]/ && substr(text, at + rest, 1) !~ /[A-Za-z0-9_]/) {
            RLENGTH = rest
            return at
        }
        from = at + rest
    }
    return 0
}

function pairs_of(text,    at, place, left, first, second) {
    gsub(/[ \t]+/, " ", text)
    while (at = index(text, "pairs with ")) {
        left = substr(text, 1, at - 1)
        text = substr(text, at + length("pairs with "))
        first = ""
        for (place = 1; place = label_at(left, place); place += RLENGTH)
            first = substr(left, place, RLENGTH)
        second = label_at(text, 1) == 1 ? substr(text, 1, RLENGTH) : ""
        if (first != "" && second != "" && !((FILENAME, first, second) in told)) {
            told[FILENAME, first, second] = 1
            pairs = pairs sprintf(" \\\n    X(\"%s\", \"%s\", \"%s\")", FILENAME, first, second)
        }
    }
}

# Splits a line into code, and the labels that its comments begin with.
function line_split(line,    at, rest) {
    code = names = ""
    comments = inside
    while (line != "") {
        if (!inside) {
            at = index(line, "/*")
            code = code (at ? substr(line, 1, at - 1) : line)
            if (!at)
                return
            inside = comments = 1
            line = substr(line, at + 2)
            comment = ""
            sub(/^[ \t]+/, "", line)
            rest = line
            while (label_at(rest, 1) == 1) { # "J1, J4" is two
                names = names " " substr(rest, 1, RLENGTH)
                rest = substr(rest, RLENGTH + 1)
                if (!sub(/^, /, "", rest))
                    break
            }
        } else {
            if (comment != "")
                sub(/^[ \t]*\*($|[ \t])/, "", line)
            at = index(line, "*/")
            comment = comment " " (at ? substr(line, 1, at - 1) : line)
            if (!at)
                return
            pairs_of(comment)
            inside = 0
            line = substr(line, at + 2)
        }
    }
}

FNR == 1 { statement = here = before = ""; inside = began = 0 }

{
    empty = $0 ~ /^[ \t]*$/
    line_split($0)
    sub(/[ \t\\]+$/, "", code)
    if (code ~ /^[ \t]*$/) {
        before = !empty || comments ? before names : ""
        next
    }
    if (!began)
        began = FNR
    statement = statement code
    here = here names
    if (names == "" && code !~ /[;{}]$/)
        next
    count = statement ~ /memory_order_/ && statement !~ /INVARIANT\(/ ? split(here before, label, " ") : 0
    for (i = 1; i <= count; i++)
        sites = sites sprintf(" \\\n    X(\"%s\", \"%s\", %d, %d)", label[i], FILENAME, began, FNR)
    statement = here = ""
    began = 0
}

END { printf "#define LABEL_SITES(X)%s\n#define LABEL_PAIRS(X)%s\n", sites, pairs }
