package distributions

// Presets returns the built-in distributions, fresh copies in a fixed order: the seventeen of the reference system,
// then three that add MCP servers to the toolsets of default.
func Presets() []Distribution {
	return []Distribution{
		{Name: "default", Description: "Every general toolset, in every draw.", Entries: defaultEntries()},
		{Name: "image_gen", Description: "Making pictures and judging them, with a look at the web.",
			Entries: []Entry{{"image_gen", 90}, {"vision", 90}, {"web", 55}, {"terminal", 45}}},
		{Name: "research", Description: "Reading up on a question: pages first, a shell now and then.",
			Entries: []Entry{{"web", 90}, {"browser", 70}, {"vision", 50}, {"terminal", 10}}},
		{Name: "science", Description: "Computing and reading for scientific work.",
			Entries: []Entry{{"web", 94}, {"terminal", 94}, {"file", 94}, {"vision", 65}, {"browser", 50}, {"image_gen", 15}}},
		{Name: "development", Description: "Writing and running code, with occasional look-ups.",
			Entries: []Entry{{"terminal", 80}, {"file", 80}, {"web", 30}, {"vision", 10}}},
		{Name: "safe", Description: "Nothing that touches the machine: no shell, no files.",
			Entries: []Entry{{"web", 80}, {"browser", 70}, {"vision", 60}, {"image_gen", 60}}},
		{Name: "balanced", Description: "Six general toolsets, each in half of the draws.",
			Entries: []Entry{{"web", 50}, {"vision", 50}, {"image_gen", 50}, {"terminal", 50}, {"file", 50}, {"browser", 50}}},
		{Name: "minimal", Description: "The web toolset and no other.",
			Entries: []Entry{{"web", 100}}},
		{Name: "terminal_only", Description: "A shell and files, always together.",
			Entries: []Entry{{"terminal", 100}, {"file", 100}}},
		{Name: "terminal_web", Description: "A shell, files and the web, always together.",
			Entries: []Entry{{"terminal", 100}, {"file", 100}, {"web", 100}}},
		{Name: "creative", Description: "Pictures in and out, seldom anything else.",
			Entries: []Entry{{"image_gen", 90}, {"vision", 90}, {"web", 30}}},
		{Name: "reasoning", Description: "Thinking with few tools at hand.",
			Entries: []Entry{{"web", 90}, {"file", 60}, {"terminal", 20}}},
		{Name: "browser_use", Description: "Working in a browser, usually with search and sight.",
			Entries: []Entry{{"browser", 100}, {"web", 80}, {"vision", 70}}},
		{Name: "browser_only", Description: "The browser toolset and no other.",
			Entries: []Entry{{"browser", 100}}},
		{Name: "browser_tasks", Description: "Tasks for a browser, with little beside it.",
			Entries: []Entry{{"browser", 97}, {"vision", 12}, {"terminal", 15}}},
		{Name: "terminal_tasks", Description: "Tasks for a shell, with most other toolsets in reach.",
			Entries: []Entry{{"terminal", 97}, {"file", 97}, {"web", 97}, {"browser", 75}, {"vision", 50}, {"image_gen", 10}}},
		{Name: "mixed_tasks", Description: "Tasks that need a browser, a shell and files at once.",
			Entries: []Entry{{"browser", 92}, {"terminal", 92}, {"file", 92}, {"web", 35}, {"vision", 15}, {"image_gen", 15}}},
		{Name: "few", Description: "The toolsets of default and three MCP servers.", Entries: defaultEntries(), Servers: 3},
		{Name: "ten", Description: "The toolsets of default and ten MCP servers.", Entries: defaultEntries(), Servers: 10},
		{Name: "forty", Description: "The toolsets of default and forty MCP servers.", Entries: defaultEntries(), Servers: 40},
	}
}

func defaultEntries() []Entry {
	return []Entry{{"web", 100}, {"vision", 100}, {"image_gen", 100}, {"terminal", 100}, {"file", 100}, {"browser", 100}}
}
