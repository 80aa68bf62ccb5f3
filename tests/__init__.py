"""Tests of gpufleet.rocm."""
