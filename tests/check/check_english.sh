#!/bin/bash
# check_english.sh - comments do not open with What, Whether, Of, Those, Who or That; no sentence has over 35 words.
exec python3 "$(dirname "$0")/english.py"
