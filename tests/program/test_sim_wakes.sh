#!/bin/bash
# Sleeping workers and a producer against formulas: sim_wakes.c, a program of CONFIG=sim.
set -u
cd "$(dirname "$0")/../.." && exec build/sim/tests/sim_wakes
