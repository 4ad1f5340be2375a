// Package duckdb reads run folders with DuckDB, which shares no code with the library that writes them: what it makes of
// a table's types, lists and NULLs is what people will find who load a run into their own tools. From the tables of two
// runs it computes every figure and break-even of summary.json once more, and checks that the tables agree among
// themselves; testdata/figures.sql does the same for any run.
//
// It is a module of its own, so that DuckDB and the C compiler that it needs stay out of the project's requirements. To
// run it:
//
//	cd bench/duckdb && go test ./...
package duckdb
