# man.awk - a manual page from what `schedlab COMMAND --help` prints, which is made of the option tables.
#
# Use: schedlab run --help | awk -f man.awk -v name='schedlab-run' -v idea='one workload...' -v version=1.0.0

function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/)
        text = "\\\&" text
    return text
}

# In bold up to the two blanks or the end.
function option(line,    end) {
    sub(/^ +/, "", line)
    end = match(line, /  +/)
    print ".TP"
    print ".B " escaped(end ? substr(line, 1, end - 1) : line)
    if (end)
        print escaped(substr(line, RSTART + RLENGTH))
}

function section(title) {
    if (state == "verbatim")
        print ".fi"
    print ".SH " title
}

BEGIN {
    print ".TH " toupper(name) " 1 \"\" \"schedlab " version "\" \"schedlab\""
    print ".SH NAME"
    print name " \\- " escaped(idea)
    state = "begin"
}

/^Usage:/ {
    section("SYNOPSIS")
    print ".nf"
    sub(/^Usage: /, "")
    print escaped($0)
    state = "verbatim"
    next
}
state == "verbatim" && usage != "over" && /^ +/ {
    sub(/^ +(or: +)?/, "")
    print escaped($0)
    next
}
usage != "over" {
    usage = "over"
    section("DESCRIPTION")
    state = "text"
}
/^ +-/ && state != "verbatim" {
    if (state != "options")
        section("OPTIONS")
    state = "options"
    option($0)
    next
}
/^Mandatory or optional arguments/ { skipping = 1 }
/^$/ { skipping = 0 }
skipping { next }
/^Examples?:$/ {
    section("EXAMPLES")
    print ".nf"
    state = "verbatim"
    next
}
/^Exit status: / {
    section("EXIT STATUS")
    state = "text"
    sub(/^Exit status: /, "")
}
/^$/ {
    if (state == "options") {
        section("NOTES")
        state = "text"
    } else if (state == "text") {
        print ".PP"
    } else {
        print ""
    }
    next
}
# A list, such as that of the commands: a word, two blanks at least, its meaning.
state == "text" && /^  [^ ].*[^ ]  +[^ ]/ {
    option($0)
    next
}
state == "text" && /^  / {
    sub(/^ +/, "")
    print ".br"
    print escaped($0)
    next
}
{
    if (state == "verbatim" && usage == "over" && !/^ /) {
        print ".fi"
        print ".PP"
        state = "text"
    }
    sub(/^ +/, "")
    print escaped($0)
}
