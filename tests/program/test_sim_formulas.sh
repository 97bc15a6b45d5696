#!/bin/bash
# Loops on simulated cores against closed formulas: sim_formulas.c, a program of CONFIG=sim.
set -u
cd "$(dirname "$0")/../.." && exec build/sim/tests/sim_formulas
