package replay

import (
	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// editMark is put in front of a description to edit it: at the front, where a
// listing shows it, so the figure is the dear case.
const editMark = "Updated: "

// disturb judges stability against the surface that each arm began with: first
// the same tools registered in other orders, with nothing kept of what the first
// surface was made from, then one change at a time to the last of these
// registries. Which tool and which server change is drawn from the session's
// stream, the same for all arms.
// An error means that a change could not be made: a surface that was not compared
// must not pass for one that held.
func (p *Player) disturb(st *stage, whole [][]*registry.Definition, rows []metrics.SessionArm) error {
	for i := range rows {
		rows[i].ByteIdentical = true
	}
	st.restart()
	for _, memo := range p.rig.memos {
		memo.Forget()
	}
	for range max(p.options.Repeats-1, 1) {
		if err := p.fill(st, true); err != nil {
			return err
		}
		for i, s := range st.assemble() {
			rows[i].ByteIdentical = rows[i].ByteIdentical && sameSurface(whole[i], s)
		}
	}
	if tool := st.drawTool(p); tool != nil {
		if err := p.changeTool(st, tool, whole, rows); err != nil {
			return err
		}
	}
	if server := st.drawServer(); server != "" {
		return p.changeServer(st, server, whole, rows)
	}
	return nil
}

// drawTool picks one of the session's tools outside the core: one that every arm
// may defer.
func (st *stage) drawTool(p *Player) *corpus.Tool {
	view := st.views[0]
	usable := view.session.Assembler.Assemble(view.session.Request).Usable
	var names []string
	for _, d := range usable {
		if !p.options.Corpus.Toolsets.IsCore(d.Name) {
			names = append(names, d.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	tool, _ := p.options.Corpus.Tool(p.ids[names[st.stream.IntN(len(names))]])
	return tool
}

func (st *stage) drawServer() string {
	if len(st.session.Servers) == 0 {
		return ""
	}
	return st.session.Servers[st.stream.IntN(len(st.session.Servers))]
}

// changeTool removes a tool, brings it back edited, and restores it. A tool
// added is the removal seen from the other side.
func (p *Player) changeTool(st *stage, tool *corpus.Tool, whole [][]*registry.Definition, rows []metrics.SessionArm) error {
	edited, err := p.edit(tool, editMark+tool.Definition.Description)
	if err != nil {
		return err
	}
	if err := st.lanes[0].registry.Deregister(tool.Definition.Name, ""); err != nil {
		return err
	}
	for i, without := range st.assemble() {
		counter := p.arms[i].counter
		rows[i].Retained.ToolRemoved = share(counter.retained(whole[i], without))
		rows[i].Retained.ToolAdded = share(counter.retained(without, whole[i]))
	}
	registration := p.registrations[tool]
	registration.Definition = edited
	if err := st.lanes[0].registry.Register(registration); err != nil {
		return err
	}
	for i, changed := range st.assemble() {
		rows[i].Retained.DescriptionEdited = share(p.arms[i].counter.retained(whole[i], changed))
	}
	return st.lanes[0].registry.Register(p.registrations[tool])
}

// changeServer disconnects a server; connecting it is the same seen from the
// other side.
func (p *Player) changeServer(st *stage, server string, whole [][]*registry.Definition, rows []metrics.SessionArm) error {
	for _, t := range p.bySource[server] {
		if err := st.lanes[0].registry.Deregister(t.Definition.Name, ""); err != nil {
			return err
		}
	}
	for i, without := range st.assemble() {
		counter := p.arms[i].counter
		rows[i].Retained.ServerDisconnected = share(counter.retained(whole[i], without))
		rows[i].Retained.ServerConnected = share(counter.retained(without, whole[i]))
	}
	return nil
}

func share(f float64) *float64 { return &f }

// assemble is the surface of each arm as the stage stands now.
func (st *stage) assemble() [][]*registry.Definition {
	surfaces := make([][]*registry.Definition, len(st.views))
	for i, v := range st.views {
		surfaces[i] = v.session.Assembler.Assemble(v.session.Request).Definitions
	}
	return surfaces
}
