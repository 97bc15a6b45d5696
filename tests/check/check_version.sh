#!/bin/bash
# check_version.sh - the Makefile, CHANGELOG.md and CITATION.cff name one version.
#
# The newest heading of CHANGELOG.md counts. Prints one line per offence; exit 1 if there is any.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

built=$(sed -n 's/^VERSION := //p' Makefile)
told=$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
cited=$(sed -n 's/^version: //p' CITATION.cff)
status=0
[ "$told" = "$built" ] || { echo "CHANGELOG.md: its newest version is '$told', the Makefile's '$built'"; status=1; }
[ "$cited" = "$built" ] || { echo "CITATION.cff: version '$cited', the Makefile's '$built'"; status=1; }
exit $status
