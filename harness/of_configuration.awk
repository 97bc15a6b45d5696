# of_configuration.awk - prints, of the C files given, those that may differ between configurations: a line of theirs,
# or of what they include, directly or not, asks which one it is. Files count by their last name. The rest is compiled
# once for all (Makefile).
FNR == 1 { name = FILENAME; sub(/.*\//, "", name); path[name] = FILENAME }
/^ *# *(if|elif)/ && /(SCHEDLAB|__SANITIZE)_[A-Z]+/ && !/_H$/ { asks[name] = 1 }
/^ *# *include "/ {
    split($0, quoted, "\"")
    sub(/.*\//, "", quoted[2])
    users[quoted[2]] = users[quoted[2]] " " name
}
END {
    for (name in asks)
        todo[++count] = name
    for (i = 1; i <= count; i++) {
        n = split(users[todo[i]], user, " ")
        for (u = 1; u <= n; u++)
            if (!asks[user[u]]++)
                todo[++count] = user[u]
    }
    for (i = 1; i <= count; i++)
        if (path[todo[i]] ~ /\.c$/)
            print path[todo[i]]
}
