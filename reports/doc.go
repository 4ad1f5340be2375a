// Package reports keeps what a run observed and tells people and programs about it.
//
// A run is one folder. The steps, in order:
//
//  1. [Create] makes the folder and a manifest of status running.
//  2. [Writer.Add] takes the observations of one session after the other and appends them to four Parquet tables.
//  3. [Writer.Finish] puts the tables, summary.json and bench.txt in place, and last of all the manifest that vouches for
//     them with their hashes.
//  4. [NewOutline] words the summary, [Print] prints it on a terminal, and [Exporter] writes it for other programs.
//  5. [Open] reads a run folder again.
//
// A run may be played in parts, each a [Shard] with a folder of its own, on as many machines; [OpenShards] checks that they
// belong together and are complete, and [Merge] makes of them the folder that one run would have made.
//
// A file is visible under its final name only when it is complete, and a run that cannot be written leaves nothing: no
// table that looks like a result and is half of one. An interrupted run keeps what it finished: [Find] finds it, and
// [Writer.AddRun] takes it over into a new folder, so that at any moment one of the two is whole.
//
// The same observations in the same order give the same bytes in every table and in summary.json, on any machine. What
// differs from run to run (times, the run id, the machine) stands in manifest.json and bench.txt.
package reports

// SchemaVersion is the version of everything in a run folder. It grows when a column or field changes its meaning or goes.
const SchemaVersion = 1

// The files of a run folder.
const (
	ManifestFile    = "manifest.json"
	SessionArmsFile = "session_arms.parquet"
	CallsFile       = "calls.parquet"
	SearchesFile    = "searches.parquet"
	SurfacesFile    = "surfaces.parquet"
	SummaryFile     = "summary.json"
	BenchFile       = "bench.txt"
)
