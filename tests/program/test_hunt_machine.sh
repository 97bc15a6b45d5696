#!/bin/bash
# The machine that looks for wrong schedules, with known ones: hunt_machine.c, a program of CONFIG=hunt.
set -u
cd "$(dirname "$0")/../.." && exec build/hunt/tests/hunt_machine
