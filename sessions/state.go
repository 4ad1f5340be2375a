package sessions

// state is what a session has at a moment of its time. It tells whether the next
// event can happen at all: a server that is not connected cannot leave.
type state struct {
	toolsets map[string]bool // switched on
	servers  map[string]bool // connected
	failing  map[string]bool // probes
	// removed holds, for each server, the tools that it lost since it connected.
	removed map[string]map[string]bool
}

// newState is what a session starts with: every probe passes, and every server
// has all its tools.
func newState(s *Session) *state {
	st := &state{
		toolsets: make(map[string]bool, len(s.Toolsets)), servers: make(map[string]bool, len(s.Servers)),
		failing: make(map[string]bool), removed: make(map[string]map[string]bool),
	}
	for _, name := range s.Toolsets {
		st.toolsets[name] = true
	}
	for _, name := range s.Servers {
		st.servers[name] = true
	}
	return st
}

// apply lets an event that was checked happen. An error says why it cannot, and
// the state is then of no more use.
func (st *state) apply(e *Event) error {
	switch e.Kind {
	case KindServerUp:
		if st.servers[e.Server] {
			return fault("server", "let it leave with server_down first", "%s is connected already", shown(e.Server))
		}
		st.servers[e.Server] = true
		delete(st.removed, e.Server) // it comes with all its tools
	case KindServerDown:
		if !st.servers[e.Server] {
			return notConnected(e.Server)
		}
		delete(st.servers, e.Server)
	case KindToolsChanged:
		return st.changeTools(e.Server, e.Tools)
	case KindProbeFail:
		if st.failing[e.Probe] {
			return fault("probe", "let it pass with probe_ok first", "%s fails already", shown(e.Probe))
		}
		st.failing[e.Probe] = true
	case KindProbeOK:
		if !st.failing[e.Probe] {
			return fault("probe", "let it fail with probe_fail first", "%s does not fail", shown(e.Probe))
		}
		delete(st.failing, e.Probe)
	case KindConfig:
		return below("config", st.configure(e.Config))
	}
	return nil
}

func notConnected(server string) error {
	return fault("server", "list it in servers, or let it connect with server_up first", "%s is not connected", shown(server))
}

func (st *state) changeTools(server string, changes *ToolChanges) error {
	if !st.servers[server] {
		return notConnected(server)
	}
	const goneHint = "name a tool that the server still has, or add it again first"
	removed := st.removed[server]
	for i, tool := range changes.Added {
		if !removed[tool] {
			return fault("tools."+element("added", i), "name a tool that was removed since the server connected", "%s was not removed", shown(tool))
		}
	}
	for i, tool := range changes.Removed {
		if removed[tool] {
			return fault("tools."+element("removed", i), goneHint, "%s is removed already", shown(tool))
		}
	}
	for i, edit := range changes.Edited {
		if removed[edit.Tool] {
			return fault("tools."+element("edited", i)+".tool", goneHint, "%s is removed", shown(edit.Tool))
		}
	}
	for _, tool := range changes.Added {
		delete(removed, tool)
	}
	if removed == nil && len(changes.Removed) > 0 {
		removed = make(map[string]bool)
		st.removed[server] = removed
	}
	for _, tool := range changes.Removed {
		removed[tool] = true
	}
	return nil
}

func (st *state) configure(c *ConfigChange) error {
	for i, name := range c.Enable {
		if st.toolsets[name] {
			return fault(element("enable", i), "leave it out", "%s is on already", shown(name))
		}
	}
	for i, name := range c.Disable {
		if !st.toolsets[name] {
			return fault(element("disable", i), "leave it out", "%s is not on", shown(name))
		}
	}
	for _, name := range c.Enable {
		st.toolsets[name] = true
	}
	for _, name := range c.Disable {
		delete(st.toolsets, name)
	}
	return nil
}
