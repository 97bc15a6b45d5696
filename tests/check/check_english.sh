#!/bin/bash
# check_english.sh - no sentence of a comment opens with What, Whether, Of, Those, Who or That, and none has over 35 words.
exec python3 "$(dirname "$0")/english.py"
