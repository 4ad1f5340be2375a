package gateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// The rules that deny a call.
const (
	RuleVisibility = "visibility"
	RuleSurface    = "surface"
	RuleSystem     = "system"
	RuleAdmin      = "admin"
	RuleSession    = "session"
	RuleScope      = "scope"
	RuleConfirm    = "confirm"
)

// authorise says why a session may not use a tool; nil if it may.
func authorise(who *card.Session, c *card.Card) *Error {
	deny := func(rule, action, format string, args ...any) *Error {
		return &Error{Code: Denied, Rule: rule, Phase: PhaseAuthorise, Message: fmt.Sprintf(format, args...), SuggestedAction: action}
	}
	admin := who.Role == card.RoleAdmin
	switch {
	case !c.Visible(who.Teams):
		return deny(RuleVisibility, "Use a tool that is listed for this session.", "%s is not visible to the teams of this session", c.Name)
	case len(who.Surfaces) > 0 && !slices.Contains(who.Surfaces, c.Surface) && c.Target != card.ResultReadTarget: // which reads what the session was given
		place := "belongs to no surface"
		if c.Surface != "" {
			place = "belongs to the surface " + c.Surface
		}
		return deny(RuleSurface, "Use the tools of "+strings.Join(who.Surfaces, " or ")+".",
			"this session is authorised for %s only, and %s %s", strings.Join(who.Surfaces, ", "), c.Name, place)
	case c.Auth == card.AuthSystem && len(who.Surfaces) == 0 && !admin:
		return deny(RuleSystem, "Do the task with other tools, or ask the user for a session that may use the computer.",
			"%s operates the computer, which is closed to ordinary sessions", c.Name)
	case c.Auth == card.AuthAdmin && !admin:
		return deny(RuleAdmin, "Do the task with other tools, or ask the user for an admin.", "%s is for admin sessions", c.Name)
	case c.Auth != card.AuthNone && who.Principal == "":
		return deny(RuleSession, "Ask the user to sign in.", "%s needs a session with a principal", c.Name)
	case c.Scope != "" && !slices.Contains(who.Scopes, c.Scope):
		return deny(RuleScope, "Do the task with other tools, or ask the user to grant "+c.Scope+".",
			"%s needs the scope %s, which this session does not hold", c.Name, c.Scope)
	}
	return nil
}
