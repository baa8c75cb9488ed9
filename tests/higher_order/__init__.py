"""Tests of higher-order operators: bodies that are traced into graphs of their own."""
